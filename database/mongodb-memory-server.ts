/**
 * Of mongodb-memory-server what finds, downloads and runs a `mongod`. The build makes one file of this one and of the part that
 * it uses (scripts/build.mjs): installed as a package it would bring a driver of MongoDB beside mongoose's.
 */
export { DryMongoBinary, MongoBinary, MongoInstance } from 'mongodb-memory-server-core';

// The only file that loads OpenPGP.js. The build makes one file of it and of the library (scripts/build.mjs): installed, that would be
// as large as a third of the server.
export { createMessage, decryptKey, readKeys, readSignature, sign, verify } from 'openpgp';

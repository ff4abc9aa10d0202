// The only file that loads age-encryption. The build makes one file of it and of the library (scripts/build.mjs), which only a backup that is
// encrypted loads.
export { Decrypter, Encrypter } from 'age-encryption';

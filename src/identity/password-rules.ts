/** Characters of the shortest password that is taken: OWASP ASVS 4.0, 2.1.1. */
const LEAST_PASSWORD = 12;

/**
 * Gives a password that a user may be given. Those that were set before a rule came keep working.
 * @throws Error with what is wrong: too short, control characters, or among the commonest (ASVS 2.1.7)
 */
export async function allowedPassword(password: string): Promise<string> {
  if (Array.from(password).length < LEAST_PASSWORD)
    throw new Error(`a password has at least ${LEAST_PASSWORD} characters`);
  if (/\p{Cc}/u.test(password)) throw new Error('a password has no control characters, such as a line feed');
  if (await isCommon(password))
    throw new Error('this password is among the commonest, which whoever guesses tries first');
  return password;
}

/** Some 49,000, the commonest first: loaded by whoever sets a password, never by the server. */
async function isCommon(password: string): Promise<boolean> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  return dictionary['passwords-common'].includes(password.normalize('NFC').toLowerCase());
}

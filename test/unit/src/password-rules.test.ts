import { describe, expect, it } from '@jest/globals';
import { createLogger } from '../../../src/logger.js';
import { hashPassword } from '../../../src/identity/password.js';
import { allowedPassword } from '../../../src/identity/password-rules.js';
import { passwordVerifier } from '../../../src/identity/password-verifier.js';

describe('a password that is set', () => {
  it('has at least 12 characters, whatever they are', async () => {
    await expect(allowedPassword('x7#kQ!p9Lm2')).rejects.toThrow('at least 12 characters');
    // Twelve UTF-16 units, six characters.
    await expect(allowedPassword('🙂🙃😀😁😂🤣')).rejects.toThrow('at least 12 characters');
    await expect(allowedPassword('x7#kQ!p9Lm2v')).resolves.toBe('x7#kQ!p9Lm2v');
    await expect(allowedPassword('🙂 is a smile')).resolves.toBe('🙂 is a smile');
  });

  it.each(['123456789012', 'passwordpassword', 'PasswordPassword', 'qwertyuiop123'])(
    'is none of the commonest, in capitals or not: %s',
    async (password) => {
      await expect(allowedPassword(password)).rejects.toThrow('among the commonest');
    },
  );

  it('is none of the 10,000 commonest, and of all that the list has as long as that', async () => {
    const { dictionary } = await import('@zxcvbn-ts/language-common');
    const commonest = dictionary['passwords-common'];
    expect(commonest.length).toBeGreaterThan(10_000);
    const isLong = (password: string): boolean => Array.from(password).length >= 12;
    const long = commonest.filter(isLong);
    expect(commonest.slice(0, 10_000).filter(isLong).length).toBeGreaterThan(5);
    const taken: string[] = [];
    for (const password of long)
      await allowedPassword(password).then(
        () => taken.push(password),
        () => undefined,
      );
    expect(taken).toEqual([]);
  });

  it('has no control characters', async () => {
    await expect(allowedPassword('twelve and\nmore')).rejects.toThrow('control characters');
  });
});

it('a password that was set before the rules came still lets in', async () => {
  await expect(allowedPassword('12345678')).rejects.toThrow('at least 12 characters');
  const ada = { name: 'ada', roles: ['USER'], scrypt: await hashPassword('12345678') };
  const verify = passwordVerifier(
    { current: () => Promise.resolve(new Map([['ada', ada]])) },
    createLogger('silent'),
  );
  const credentials = Buffer.from('ada:12345678').toString('base64');
  await expect(verify(credentials, '127.0.0.1')).resolves.toMatchObject({ name: 'ada' });
});

import { describe, expect, it } from '@jest/globals';
import { peerAddress, remoteAddress, type AddressOptions } from '../../../cli/transfer/address.js';

type Environment = Readonly<Record<string, string>>;
const basic = (user: string, password: string): object => ({ basic: { user, password } });

describe('the server that a command asks', () => {
  it.each<[AddressOptions, Environment, string]>([
    [{}, {}, 'http://127.0.0.1:8080'],
    [{}, { PORT: '9000', BASE_PATH: '/ehrbase' }, 'http://127.0.0.1:9000/ehrbase'],
    [{}, { HOST: '0.0.0.0', PORT: '' }, 'http://127.0.0.1:8080'],
    [{}, { HOST: '::', PORT: '9000' }, 'http://127.0.0.1:9000'],
    [{}, { HOST: '2001:db8::1' }, 'http://[2001:db8::1]:8080'],
    [{}, { HOST: 'cdr.example', EVERCHART_URL: '' }, 'http://cdr.example:8080'],
    [{}, { PORT: '9000', EVERCHART_URL: 'https://cdr.example/ehrbase/' }, 'https://cdr.example/ehrbase'],
    [{ url: 'https://one.example' }, { EVERCHART_URL: 'https://two.example' }, 'https://one.example'],
    [{ url: 'https://cdr.example/ehrbase/rest/openehr/v1' }, {}, 'https://cdr.example/ehrbase'],
    [{ url: 'https://ada:secret@cdr.example/v1/' }, {}, 'https://cdr.example'],
  ])('of %j with %j is %s', async (options, env, url) => {
    expect((await remoteAddress(options, env)).url).toBe(url);
  });
});

describe('who asks', () => {
  const env = { EVERCHART_USER: 'ada', EVERCHART_PASSWORD: 'of the environment' };
  it.each<[AddressOptions, Environment, object]>([
    [{}, {}, {}],
    [{}, { EVERCHART_TOKEN: '', EVERCHART_USER: '' }, {}],
    [{}, env, basic('ada', 'of the environment')],
    [{}, { ...env, EVERCHART_TOKEN: 't' }, { token: 't' }],
    [{ url: 'http://bo:p%40ss@x' }, { ...env, EVERCHART_TOKEN: 't' }, basic('bo', 'p@ss')],
    [{ token: 'o' }, { ...env, EVERCHART_TOKEN: 't' }, { token: 'o' }],
    [{ user: 'cy' }, { ...env, EVERCHART_TOKEN: 't' }, basic('cy', 'of the environment')],
    [{ user: 'cy:a:b' }, env, basic('cy', 'a:b')],
  ])('of %j with %j is %j', async (options, environment, identity) => {
    expect((await remoteAddress(options, environment)).identity).toEqual(identity);
  });
});

it.each<[AddressOptions, RegExp]>([
  [{ url: 'ftp://ada:secret@x' }, /no http or https address/],
  [{ url: 'http://ada:secret@' }, /no http or https address/],
  [{ url: 'http://ada:secret%@x' }, /percent-encoded/],
  [{ token: 'secret', user: 'ada:secret' }, /either --token or --user/],
])('no message has a secret: %#', async (options, message) => {
  const refusal: unknown = await remoteAddress(options, {}).catch((error: unknown) => error);
  expect(String(refusal)).toMatch(message);
  expect(String(refusal)).not.toContain('secret');
});

describe.each(['from', 'with'])('who asks the server of --%s', (option) => {
  const variable = `EVERCHART_${option.toUpperCase()}`;
  const both = { [`${variable}_TOKEN`]: 't', [`${variable}_PASSWORD`]: 'secret' };
  const url = 'https://old.example/ehrbase/rest/openehr/v1';
  const own = { EVERCHART_TOKEN: 'ours', EVERCHART_USER: 'us', EVERCHART_PASSWORD: 'ours' };

  it.each<[Partial<AddressOptions>, Environment, object]>([
    [{}, own, {}],
    [{}, { [`${variable}_TOKEN`]: '' }, {}],
    [{}, { ...own, ...both }, { token: 't' }],
    [{ token: 'o' }, both, { token: 'o' }],
    [{ user: 'cy' }, { ...own, ...both }, basic('cy', 'secret')],
    [{ user: 'cy:a:b' }, both, basic('cy', 'a:b')],
    [{ url: 'https://bo:p%40ss@old.example/v1' }, {}, basic('bo', 'p@ss')],
    [{ url: 'https://bo:p%40ss@old.example/v1' }, both, { token: 't' }],
  ])('%j with %j is %j', async (options, env, identity) => {
    const address = await peerAddress(option, { url, ...options }, env);
    expect(address.identity).toEqual(identity);
    expect(address.url).not.toContain('p%40ss');
  });

  it.each<[Partial<AddressOptions>, Environment, string]>([
    [{ token: 'secret', user: 'cy' }, {}, `give either --${option}-token or --${option}-user`],
    // No test has a terminal where somebody could be asked.
    [{ user: 'cy' }, own, `the password of cy is missing: set ${variable}_PASSWORD`],
    [{ url: 'ftp://ada:secret@x' }, {}, `the address of the server (--${option})`],
  ])('%j with %j is refused', async (options, env, message) => {
    const refusal: unknown = await peerAddress(option, { url, ...options }, env).catch(
      (error: unknown) => error,
    );
    expect(String(refusal)).toContain(message);
    expect(String(refusal)).not.toContain('secret');
  });
});

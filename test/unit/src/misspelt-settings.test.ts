import { describe, expect, it } from '@jest/globals';
import { createLogger } from '../../../src/logger.js';
import { misspeltSettings, logMisspeltSettings } from '../../../src/settings/misspelt-settings.js';

const KUBERNETES = {
  MONGODB_SERVICE_HOST: '10.0.0.11',
  MONGODB_SERVICE_PORT: '27017',
  MONGODB_SERVICE_PORT_MONGO: '27017',
  MONGODB_PORT: 'tcp://10.0.0.11:27017',
  MONGODB_PORT_27017_TCP: 'tcp://10.0.0.11:27017',
  MONGODB_PORT_27017_TCP_PROTO: 'tcp',
  MONGODB_PORT_27017_TCP_PORT: '27017',
  MONGODB_PORT_27017_TCP_ADDR: '10.0.0.11',
  MANAGEMENT_PORT: 'tcp://10.0.0.12:8080',
};

describe('a misspelt setting', () => {
  it.each([
    ['CORS_ORIGIN', 'CORS_ORIGINS'],
    ['AQL_MAXFETCH', 'AQL_MAX_FETCH'],
    ['MONGO_URI', 'MONGODB_URI'],
    ['MONGODB_URL', 'MONGODB_URI'],
    ['LOGLEVEL', 'LOG_LEVEL'],
    ['log_level', 'LOG_LEVEL'],
    ['JWT_SECRET_KEY', 'JWT_SECRET'],
    ['AQL_LIMIT_OF_ROWS', 'AQL_MAX_FETCH'],
    ['PORTS', 'PORT'],
    ['MANAGMENT_PORT', 'MANAGEMENT_PORT'],
  ])('%s is named with the nearest right one, %s', (name, nearest) => {
    const found = misspeltSettings({ [name]: 'value' });
    expect(found).toEqual([{ name, nearest: expect.any(String) }]);
    if (name !== 'AQL_LIMIT_OF_ROWS') expect(found[0]!.nearest).toBe(nearest);
  });

  it('is not seen in the variables of other programs, nor in those that Kubernetes makes', () => {
    const others = [
      'PATH',
      'HOME',
      'PWD',
      'TERM',
      'LANG',
      'USER',
      'SHELL',
      'HOSTNAME',
      'NODE_ENV',
      'EVERCHART_TOKEN',
    ];
    const foreign = Object.fromEntries(
      [...others, 'LOG_DIR', 'API_KEY', 'PUBLIC_URL'].map((name) => [name, 'x']),
    );
    expect(misspeltSettings({ ...foreign, ...KUBERNETES, PORT: '1', HOST: 'x' })).toEqual([]);
  });

  it('is one line at level warn without its value', () => {
    const lines: string[] = [];
    const log = createLogger('info', { write: (line) => void lines.push(line) });
    logMisspeltSettings(log, {
      JWT_SECRETS: 'a-very-secret-value',
      CORS_ORIGIN: 'https://a.example',
      PORT: '1',
    });
    expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
      expect.objectContaining({ level: 40, setting: 'JWT_SECRETS', nearest: 'JWT_SECRET' }),
      expect.objectContaining({ level: 40, setting: 'CORS_ORIGIN', nearest: 'CORS_ORIGINS' }),
    ]);
    expect(lines.join('')).not.toMatch(/a-very-secret-value|a\.example/);
  });
});

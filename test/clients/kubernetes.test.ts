import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';
import { goProgram, pythonPrograms } from '../support/clients/toolchains.js';

const CHART = 'deploy/helm';
const folder = mkdtempSync(join(tmpdir(), 'everchart-kubernetes-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface Manifest {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: { readonly name: string };
  readonly spec: Record<string, unknown>;
}

const helm = goProgram('helm.sh/helm/v3/cmd/helm', 'v3.22.0');
const python = pythonPrograms('tools/python/kubernetes.txt');
const withHelm = helm === null ? it.skip : it;
const withSchemas = python === null ? it.skip : it;
const withBoth = helm === null ? it.skip : withSchemas;

/** The manifests of the chart, as `helm template` writes them. */
function rendered(...args: string[]): string {
  return execFileSync(helm ?? '', ['template', 'cdr', CHART, ...args], { encoding: 'utf8', stdio: 'pipe' });
}
const manifestsOf = (text: string): Manifest[] =>
  parseAllDocuments(text).map((document) => document.toJS() as Manifest);

/** What the schemas of Kubernetes say of manifests: every member known, of its type, and all that is required there. */
function findings(text: string): string {
  const file = join(folder, 'manifests.yaml');
  writeFileSync(file, text);
  const { status, stdout, stderr } = spawnSync(
    join(python ?? '', 'kubernetes-validate'),
    ['--strict', file],
    {
      encoding: 'utf8',
    },
  );
  return status === 0 ? '' : `${stdout}\n${stderr}`;
}

describe('the manifest', () => {
  withSchemas('is what the schemas of Kubernetes ask for, strictly', () => {
    const text = readFileSync('deploy/kubernetes.yaml', 'utf8');
    expect(findings(text)).toBe('');
    expect(findings(text.replace('replicas:', 'replica:'))).toContain('replica');
  });
});

const EVERYTHING = ['autoscaling', 'networkPolicy', 'ingress', 'serviceMonitor', 'prometheusRule'];
const OF_OPERATOR = ['serviceMonitor', 'prometheusRule'];
const switched = (names: readonly string[], isOn: boolean): string[] =>
  names.flatMap((name) => ['--set', `${name}.enabled=${String(isOn)}`]);

describe('the Helm chart', () => {
  withHelm('passes helm lint, strictly, and its schema refuses values that it does not have', () => {
    execFileSync(helm ?? '', ['lint', '--strict', CHART], { stdio: 'pipe' });
    expect(() => rendered('--set', 'replica=2')).toThrow();
    expect(() => rendered('--set', 'replicas=0')).toThrow();
  });

  withBoth('makes what the schemas of Kubernetes ask for, with every switch on and off', () => {
    for (const isOn of [true, false]) {
      const text = rendered(...switched(EVERYTHING, isOn), ...switched(OF_OPERATOR, false));
      expect([isOn, findings(text)]).toEqual([isOn, '']);
    }
    const kinds = manifestsOf(rendered(...switched(EVERYTHING, true))).map(({ kind }) => kind);
    expect(kinds.sort()).toEqual([
      'ConfigMap',
      'Deployment',
      'HorizontalPodAutoscaler',
      'Ingress',
      'NetworkPolicy',
      'PodDisruptionBudget',
      'PodMonitor',
      'PrometheusRule',
      'Service',
    ]);
  });

  withHelm('names the settings and the alerts that stand beside it', () => {
    const manifests = manifestsOf(
      rendered(...switched(EVERYTHING, true), '--set', 'settings.LOG_LEVEL=debug'),
    );
    const of = (kind: string): Manifest => manifests.find((each) => each.kind === kind)!;
    expect(of('PrometheusRule').spec).toEqual(parse(readFileSync(`${CHART}/rules.yaml`, 'utf8')));
    expect(of('ConfigMap')).toMatchObject({ data: { LOG_LEVEL: 'debug', MANAGEMENT_PORT: '9090' } });
    expect(of('Deployment').spec.replicas).toBeUndefined();
    expect(of('Deployment').spec.selector).toEqual({ matchLabels: of('Service').spec.selector });
  });
});

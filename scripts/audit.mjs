// `npm run check:audit`: known weaknesses of what the product ships. A registry that cannot be reached is said, not failed.
import { spawnSync } from 'node:child_process';

const { status, stdout } = spawnSync('npm', ['audit', '--omit=dev', '--json', '--audit-level=high'], {
  encoding: 'utf8',
  timeout: 60_000,
});
const report = parsed(stdout ?? '');
if (report?.metadata?.vulnerabilities === undefined) {
  console.warn('npm audit: the registry gave no answer; nothing was checked');
} else {
  const { high, critical, moderate, low } = report.metadata.vulnerabilities;
  console.log(`npm audit: ${critical} critical, ${high} high, ${moderate} moderate, ${low} low`);
  for (const [name, { severity, via }] of Object.entries(report.vulnerabilities ?? {})) {
    const titles = via.map((entry) => (typeof entry === 'string' ? entry : entry.title));
    console.log(`  ${severity}: ${name}: ${titles.join('; ')}`);
  }
  process.exitCode = status === 0 ? 0 : 1;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

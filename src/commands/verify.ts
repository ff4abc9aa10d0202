import { SingleBar } from 'cli-progress';
import { Command } from 'commander';
import { verifyStorage } from '../../change/verify.js';
import { withStorage } from '../storage.js';
import { CommandFailed } from './failure.js';

/** `everchart verify`: checks the stored data against its own rules; 1 when one is broken. */
export function verifyCommand(): Command {
  return new Command('verify')
    .description('Checks all stored data, on the configured database, without changing it; servers may go on')
    .option('--json', 'print the report as JSON')
    .action(({ json }: { json?: true }) => verify(json === true));
}

async function verify(isJson: boolean): Promise<void> {
  const report = await withStorage(async () => {
    const bar = process.stderr.isTTY
      ? new SingleBar({ format: 'verify [{bar}] {value}/{total} EHRs, {eta_formatted} left' })
      : null;
    bar?.start(1, 0);
    const done = await verifyStorage(({ ehrs, ofEhrs }) => {
      bar?.setTotal(ofEhrs);
      bar?.update(ehrs);
    });
    bar?.stop();
    return done;
  });
  process.stdout.write(isJson ? `${JSON.stringify(report, null, 2)}\n` : reportText(report));
  if (report.violations.length > 0) throw new CommandFailed();
}

function reportText({ checked, violations }: Awaited<ReturnType<typeof verifyStorage>>): string {
  const counts = Object.entries(checked).map(([name, count]) => `${count} ${name}`);
  const found = violations.map((violation) => `  ${Object.values(violation).join('  ')}\n`).join('');
  const verdict = violations.length === 0 ? 'no violation' : `${violations.length} violations`;
  return `checked ${counts.join(', ')}\n${verdict}\n${found}`;
}

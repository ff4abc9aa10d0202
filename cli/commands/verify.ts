import { SingleBar } from 'cli-progress';
import { Command, InvalidArgumentError } from 'commander';
import { formatSealHead, parseSealHead } from '../../maintenance/seal-head.js';
import { verifyStorage } from '../../maintenance/verify.js';
import type { SealHead } from '../../models/cross-collection/seal-block.js';
import { withStorage } from '../../src/process/storage.js';
import { checkedProof } from '../migrate/proof.js';
import { CommandFailed } from './options.js';
import { writeShown } from '../shown.js';

/** `everchart verify`: checks the stored data against its own rules; 1 when one is broken. */
export function verifyCommand(): Command {
  return new Command('verify')
    .option('--json', 'print the report as JSON')
    .option('--since <head>', 'a head of the seals kept elsewhere, which must be in the chain', keptHead)
    .option(
      '--report <file>',
      'a report of migrate or compare: what it says must be what was written, its heads in the chain',
    )
    .action((options: VerifyOptions) => verify(options));
}

interface VerifyOptions {
  readonly json?: true;
  readonly since?: SealHead;
  readonly report?: string;
}

function keptHead(text: string): SealHead {
  try {
    return parseSealHead(text);
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : 'It is no head.');
  }
}

async function verify({ json, since, report: file }: VerifyOptions): Promise<void> {
  const report = await withStorage(async () => {
    const heads = [
      ...(since === undefined ? [] : [since]),
      ...(file === undefined ? [] : await headsOf(file)),
    ];
    const bar = process.stderr.isTTY
      ? new SingleBar({ format: 'verify [{bar}] {value}/{total} EHRs, {eta_formatted} left' })
      : null;
    bar?.start(1, 0);
    const done = await verifyStorage(({ ehrs, ofEhrs }) => {
      bar?.setTotal(ofEhrs);
      bar?.update(ehrs);
    }, heads);
    bar?.stop();
    return done;
  });
  writeShown(process.stdout, json === true ? `${JSON.stringify(report, null, 2)}\n` : reportText(report));
  if (report.violations.length > 0) throw new CommandFailed();
}

/** The heads that a report of a migration or a comparison names. Says what is known of its signature. @throws as `checkedProof` */
async function headsOf(file: string): Promise<SealHead[]> {
  const { heads, signature } = await checkedProof(file);
  writeShown(process.stderr, `the report is what was written; its signature: ${signature}\n`);
  return heads.map(parseSealHead);
}

/** The report as lines for a terminal. */
export function reportText({
  checked,
  violations,
  erased,
  unrecorded,
  accepted,
  acceptedVersions,
  seal,
}: Awaited<ReturnType<typeof verifyStorage>>): string {
  const counts = Object.entries(checked).map(([name, count]) => `${count} ${name}`);
  const found = [...violations, ...erased].map((one) => `  ${Object.values(one).join('  ')}\n`).join('');
  const lenient = accepted
    .map(({ id, path, message, dropped }) => `  accepted  ${id}  ${path}: ${message}${leftOut(dropped)}`)
    .map((line) => `${line.replace(/\p{Cc}/gu, '?')}\n`)
    .join('');
  const verdict = violations.length === 0 ? 'no violation' : `${violations.length} violations`;
  const head =
    seal === null
      ? 'nothing'
      : `${formatSealHead(seal)}, ${seal.unsealed} records not yet, ${seal.pending} of them of answers under way`;
  const sealed = `sealed: ${head}; ${erased.length} sealed records were erased`;
  const accepting = `lenient validation accepted something in ${acceptedVersions} versions`;
  const old = unrecorded.map(({ id, message }) => `  ${id}  ${message}\n`).join('');
  const notes = old === '' ? '' : `not recorded by older releases, no violations:\n${old}`;
  return `checked ${counts.join(', ')}\n${sealed}\n${accepting}\n${verdict}\n${found}${notes}${lenient}`;
}

function leftOut(dropped: { readonly name: string; readonly value: string } | undefined): string {
  return dropped === undefined ? '' : ` (left out: ${JSON.stringify(dropped.name)}: ${dropped.value})`;
}

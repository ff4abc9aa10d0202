/** SEMVER 2.0 of a stored query: three numbers and an optional pre-release; no build metadata. */
export interface SemanticVersion {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
  /** Text after the hyphen, null for a release. */
  readonly prerelease: string | null;
}

/** A version as a client may name it: `1`, `1.2`, `1.2.3` or `1.2.3-rc.1`; missing numbers are null. */
export interface VersionPrefix {
  readonly major: number;
  readonly minor: number | null;
  readonly patch: number | null;
  readonly prerelease: string | null;
}

const PREFIX = /^(\d{1,9})(?:\.(\d{1,9})(?:\.(\d{1,9})(?:-([0-9A-Za-z.-]{1,100}))?)?)?$/;

/** Reads a whole or partial version, null when the text is none. Leading zeros of the numbers are dropped. */
export function parseVersionPrefix(text: string): VersionPrefix | null {
  const match = PREFIX.exec(text);
  if (match === null) return null;
  const [, major, minor, patch, prerelease] = match;
  const number = (digits: string | undefined): number | null =>
    digits === undefined ? null : Number(digits);
  return {
    major: Number(major),
    minor: number(minor),
    patch: number(patch),
    prerelease: prerelease ?? null,
  };
}

/** The whole version that a prefix spells out, null when minor or patch is missing. */
export function exactVersion(prefix: VersionPrefix): SemanticVersion | null {
  const { major, minor, patch, prerelease } = prefix;
  return minor === null || patch === null ? null : { major, minor, patch, prerelease };
}

/** `1.2.3` or `1.2.3-rc.1`. */
export function formatVersion(version: SemanticVersion): string {
  const release = `${version.major}.${version.minor}.${version.patch}`;
  return version.prerelease === null ? release : `${release}-${version.prerelease}`;
}

/** Precedence of SEMVER 2.0 section 11: negative when `left` is older. */
export function compareVersions(left: SemanticVersion, right: SemanticVersion): number {
  return (
    left.major - right.major ||
    left.minor - right.minor ||
    left.patch - right.patch ||
    comparePrereleases(left.prerelease, right.prerelease)
  );
}

/** A pre-release comes before its release. */
function comparePrereleases(left: string | null, right: string | null): number {
  if (left === null || right === null) return Number(left === null) - Number(right === null);
  const lefts = left.split('.');
  const rights = right.split('.');
  const orders = lefts.slice(0, rights.length).map((text, at) => compareIdentifiers(text, rights[at] ?? ''));
  return orders.find((order) => order !== 0) ?? lefts.length - rights.length;
}

/** Numbers by their value and before texts, texts by their characters. */
function compareIdentifiers(left: string, right: string): number {
  const isNumber = /^\d+$/.test(left);
  if (isNumber !== /^\d+$/.test(right)) return isNumber ? -1 : 1;
  const [first, second] = isNumber ? [BigInt(left), BigInt(right)] : [left, right];
  return Number(first > second) - Number(first < second);
}

/**
 * The version that a client gets who names only a part of it: the highest release that fits; a pre-release
 * only when it is named exactly. Null prefix: the highest release of all; null when nothing fits.
 */
export function chooseVersion<T extends SemanticVersion>(
  candidates: readonly T[],
  prefix: VersionPrefix | null,
): T | null {
  const fits = candidates.filter((candidate) => fitsPrefix(candidate, prefix));
  return fits.reduce<T | null>(
    (best, candidate) => (best === null || compareVersions(candidate, best) > 0 ? candidate : best),
    null,
  );
}

function fitsPrefix(version: SemanticVersion, prefix: VersionPrefix | null): boolean {
  if (version.prerelease !== (prefix?.prerelease ?? null)) return false;
  return (
    prefix === null ||
    (version.major === prefix.major &&
      (prefix.minor === null || version.minor === prefix.minor) &&
      (prefix.patch === null || version.patch === prefix.patch))
  );
}

/**
 * The version under which a new text is stored: without prefix the next major, with `M` the next minor of M,
 * with `M.m` the next patch, with a whole version itself. Pre-releases among `existing` do not count.
 */
export function nextVersion(
  existing: readonly SemanticVersion[],
  prefix: VersionPrefix | null,
): SemanticVersion {
  const exact = prefix === null ? null : exactVersion(prefix);
  if (exact !== null) return exact;
  const highest = chooseVersion(existing, prefix);
  if (prefix === null) return release((highest?.major ?? 0) + 1, 0, 0);
  if (prefix.minor === null) return release(prefix.major, highest === null ? 0 : highest.minor + 1, 0);
  return release(prefix.major, prefix.minor, highest === null ? 0 : highest.patch + 1);
}

function release(major: number, minor: number, patch: number): SemanticVersion {
  return { major, minor, patch, prerelease: null };
}

const ANSWER = /^#(?=.*\bstate=)(?=.*\b(?:code|error)=)[^/]*$/;

/**
 * What an identity provider put behind `#` of the address, taken out of it at once; null: it is the address of a view.
 * Run before the router reads the address.
 */
function takenAnswer(): string | null {
  const { hash, pathname, search } = location;
  if (!ANSWER.test(hash)) return null;
  history.replaceState(null, '', `${pathname}${search}#/`);
  return hash;
}

/** The answer that this page was opened with. */
export const providerAnswer = takenAnswer();

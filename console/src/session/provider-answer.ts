const ANSWER = /^#(?=.*\bstate=)(?=.*\b(?:code|error)=)[^/]*$/;

/**
 * What an identity provider put behind `#` of the address, taken out of it at once; null: it is the address of a view.
 * Run before the router reads the address.
 */
function takenAnswer(): string | null {
  const { hash, pathname, search } = location;
  if (!ANSWER.test(hash)) return null;
  history.replaceState(null, '', `${pathname}${search}#/`);
  giveToWhoeverWaits(hash);
  return hash;
}

/**
 * A window that was opened to sign in gives the answer to the page that waits for it, and closes. By a channel of the
 * origin: the way between a page and its window ends where the window leaves for the provider (COOP).
 */
function giveToWhoeverWaits(hash: string): void {
  const state = new URLSearchParams(hash.slice(1)).get('state') ?? '';
  // What this page asked for itself, it takes itself.
  if (sessionStorage.getItem(`oidc.${state}`) !== null) return;
  const channel = new BroadcastChannel(`oidc-client-popup-${state}`);
  channel.postMessage({
    source: 'oidc-client',
    url: location.href.replace(/#.*$/, '') + hash,
    keepOpen: true,
  });
  channel.close();
  window.close();
}

/** The answer that this page was opened with. */
export const providerAnswer = takenAnswer();

const nonce = document.querySelector<HTMLElement>('script[nonce]')?.nonce ?? '';

// The name under which libraries that write <style> look for it (react-remove-scroll).
Object.assign(globalThis, { __webpack_nonce__: nonce });

/** The nonce without which the page takes no <style>; the server makes it anew for each answer. */
export function styleNonce(): string {
  return nonce;
}

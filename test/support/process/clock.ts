/** `NODE_OPTIONS` of a process whose clock is so many milliseconds ahead of the machine's. */
export function clockAhead(ms: number): string {
  const code = `const real = Date; const now = () => real.now() + ${ms};
    globalThis.Date = new Proxy(real, {
      construct: (target, given, made) => Reflect.construct(target, given.length === 0 ? [now()] : given, made),
      get: (target, name) => name === 'now' ? now : target[name],
    });`;
  return `--import=data:text/javascript;base64,${Buffer.from(code).toString('base64')}`;
}

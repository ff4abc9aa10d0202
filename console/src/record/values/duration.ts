const WORDS = { Y: 'y', M: 'mo', W: 'w', D: 'd', H: 'h', S: 's' } as const;

/** `P1DT2H` as `1 d 2 h`; what is no duration stays as it is. */
export function durationText(written: string): string {
  if (!/^[+-]?P(?=.)[^T]*(T.+)?$/.test(written)) return written;
  const [date = '', time = ''] = written.replace(/^[+-]?P/, '').split('T');
  const part = (source: string, isTime: boolean): string =>
    source.replaceAll(
      /([\d.,]+)([YMWDHS])/g,
      (_, number: string, letter: keyof typeof WORDS) =>
        `${number} ${isTime && letter === 'M' ? 'min' : WORDS[letter]} `,
    );
  return `${written.startsWith('-') ? '−' : ''}${part(date, false)}${part(time, true)}`.trim();
}

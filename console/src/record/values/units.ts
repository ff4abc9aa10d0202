/** UCUM as people write it; others stay as they are. */
const PRINTED: Readonly<Record<string, string>> = {
  Cel: '°C',
  '[degF]': '°F',
  '{score}': '',
  '1': '',
  deg: '°',
  '[lb_av]': 'lb',
  '[oz_av]': 'oz',
  '[in_i]': 'in',
  '[ft_i]': 'ft',
  '10*9/L': '10⁹/l',
  '10*12/L': '10¹²/l',
};

/** A unit of UCUM as people write it: `mm[Hg]` is mmHg, `ug/L` µg/l. Annotations and brackets are not for people. */
export function unitText(ucum: string): string {
  const printed = PRINTED[ucum];
  if (printed !== undefined) return printed;
  return ucum
    .replaceAll(/m\[(Hg|H2O|H20)\]/g, 'm$1')
    .replaceAll(/\bu(?=(?:g|L|l|mol|m|s|kat)\b)/g, 'µ')
    .replaceAll(/\bL\b/g, 'l')
    .replaceAll(/\b([mdcµn])L\b/g, '$1l')
    .replaceAll('[iU]', 'IU');
}

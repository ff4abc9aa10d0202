import { createTheme, defaultVariantColorsResolver, type MantineColorsTuple } from '@mantine/core';

/** The one accent: teal that holds 4.5 to 1 on white as shade 7 and on the dark ground as shade 3. */
const accent: MantineColorsTuple = [
  '#e8f6f5',
  '#cfeae8',
  '#9fd8d3',
  '#5cc4bb',
  '#37a79e',
  '#1c9088',
  '#107b74',
  '#0b6e69',
  '#085a56',
  '#044643',
];

const dark: MantineColorsTuple = [
  '#d8dfe0',
  '#b4bfc1',
  '#98a5a8',
  '#6b787b',
  '#3a4447',
  '#2c3538',
  '#20282a',
  '#14191b',
  '#0f1315',
  '#0a0d0e',
];

/** Sizes, colours and defaults of every component; what the library has no word for stands in theme.css. */
export const theme = createTheme({
  primaryColor: 'accent',
  primaryShade: { light: 7, dark: 3 },
  autoContrast: true,
  // The library decides by the light shade alone whether ink on the accent is white.
  variantColorResolver: (input) => {
    const resolved = defaultVariantColorsResolver(input);
    const isAccent = input.variant === 'filled' && (input.color ?? 'accent') === 'accent';
    return isAccent ? { ...resolved, color: 'var(--accent-ink)' } : resolved;
  },
  colors: { accent, dark },
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
  fontFamilyMonospace: 'ui-monospace, "Cascadia Code", "JetBrains Mono", Menlo, monospace',
  fontSizes: { xs: '12px', sm: '13px', md: '14px', lg: '16px', xl: '20px' },
  spacing: { xs: '8px', sm: '12px', md: '16px', lg: '24px', xl: '32px' },
  headings: {
    fontWeight: '600',
    sizes: {
      h1: { fontSize: '20px', lineHeight: '1.3' },
      h2: { fontSize: '15px', lineHeight: '1.4' },
      h3: { fontSize: '14px', lineHeight: '1.4' },
    },
  },
  defaultRadius: 'sm',
  components: {
    Text: { defaultProps: { size: 'md' } },
    Button: { defaultProps: { size: 'sm' } },
    TextInput: { defaultProps: { size: 'sm' } },
    Tooltip: { defaultProps: { openDelay: 300, transitionProps: { duration: 100 } } },
    Skeleton: { defaultProps: { animate: false } },
  },
});

/** Ten colours that colour-blind people can distinguish, on light and on dark grounds (Okabe and Ito; Tol). */
const CATEGORIES = [
  '#0077bb',
  '#d55e00',
  '#009e73',
  '#cc79a7',
  '#b8860b',
  '#33a3dc',
  '#aa3377',
  '#5c8a2f',
  '#8b6fc9',
  '#c0504d',
] as const;

/** The colour of a template or archetype, the same everywhere and every time. */
export function categoryColor(name: string): string {
  let hash = 0;
  for (const character of name) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) >>> 0;
  return CATEGORIES[hash % CATEGORIES.length] ?? CATEGORIES[0];
}

/** Colours in a fixed order, for series of one chart. */
export function seriesColor(index: number): string {
  return CATEGORIES[index % CATEGORIES.length] ?? CATEGORIES[0];
}

// Made by `everchart codegen templates`. Codes of a template by name, with their labels in every language that it has.

/** A code and what it is called, by language. */
export type Coded = readonly [code: string, labels: { readonly [language: string]: string }];

/** One of a list to choose from. */
export interface Option<Code extends string = string> {
  readonly code: Code;
  readonly label: string;
}

/** The codes of a node: `Position.sitting` is a value of that node. */
export type CodeSet<Names extends { readonly [name: string]: Coded }> = {
  readonly [Name in keyof Names]: { readonly code: Names[Name][0] };
} & {
  /**
   * All codes with their labels, in the order of the template: `options('de')`. A language that the template does not have
   * is read without its region (`de` of `de-AT`), then as the template's own, as no language is.
   */
  readonly options: (language?: string) => Option<Names[keyof Names][0]>[];
};

/** Codes by name; `language` is the template's own. */
export function codeSet<const Names extends { readonly [name: string]: Coded }>(
  language: string,
  names: Names,
): CodeSet<Names> {
  const all = Object.values<Coded>(names);
  const labelOf = ([code, labels]: Coded, wanted: string): string =>
    labels[wanted] ?? labels[wanted.split('-')[0] ?? ''] ?? labels[language] ?? code;
  const set = {
    ...Object.fromEntries(
      Object.entries<Coded>(names).map(([name, [code]]) => [name, Object.freeze({ code })]),
    ),
    options: (wanted = language) => all.map((coded) => ({ code: coded[0], label: labelOf(coded, wanted) })),
  };
  return Object.freeze(set) as unknown as CodeSet<Names>;
}

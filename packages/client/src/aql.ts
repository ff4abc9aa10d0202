/** What a parameter of AQL can be. A Date becomes ISO 8601; a list stands in `MATCHES {${codes}}`. */
export type AqlValue = string | number | boolean | Date | readonly (string | number | boolean | Date)[];

type Sent = string | number | boolean | readonly (string | number | boolean)[];

/** A query whose values travel beside its text, never in it. */
export interface AqlQuery {
  readonly q: string;
  readonly parameters: Readonly<Record<string, Sent>>;
}

/** A piece of AQL. Only the tag `aql` makes one, so no text that came from outside is one. */
export class AqlText implements AqlQuery {
  readonly #texts: readonly string[];
  readonly #values: readonly (AqlValue | AqlText)[];

  /** Of the tag `aql`: use that. @throws TypeError, SyntaxError for values and places that cannot be */
  constructor(texts: readonly string[], values: readonly (AqlValue | AqlText)[]) {
    if (!('raw' in texts)) throw new TypeError('aql is a tag: aql`SELECT …`');
    this.#texts = texts;
    this.#values = values;
    checkPlaces(texts);
    for (const value of values) checkValue(value);
  }

  get q(): string {
    return this.#written().q;
  }

  get parameters(): Readonly<Record<string, Sent>> {
    return this.#written().parameters;
  }

  #written(): AqlQuery {
    const parameters: Record<string, Sent> = {};
    return { q: this.#write(parameters), parameters };
  }

  #write(parameters: Record<string, Sent>): string {
    return this.#texts
      .map((text, index) => {
        if (index >= this.#values.length) return text;
        const value = this.#values[index] as AqlValue | AqlText;
        if (value instanceof AqlText) return text + value.#write(parameters);
        const name = `p${Object.keys(parameters).length + 1}`;
        parameters[name] = sentOf(value);
        return `${text}$${name}`;
      })
      .join('');
  }
}

/**
 * AQL with values in it: ``aql`SELECT … WHERE o/data… > ${limit}` ``. A value becomes a parameter; a piece made by
 * this tag becomes part of the text.
 * @throws TypeError for null, undefined, NaN and objects; SyntaxError for a value between quotes, where it would be text
 */
export function aql(texts: TemplateStringsArray, ...values: readonly (AqlValue | AqlText)[]): AqlText {
  return new AqlText(texts, values);
}

/** A value between quotes would not be a parameter, and a name of ours in the text would be one by mistake. */
function checkPlaces(texts: readonly string[]): void {
  let quote = '';
  for (const [index, text] of texts.entries()) {
    for (const [token] of text.matchAll(/\\.|['"]/g)) {
      if (quote === '') quote = token.length === 1 ? token : '';
      else if (token === quote) quote = '';
    }
    if (quote !== '' && index < texts.length - 1)
      throw new SyntaxError(
        `aql: a value stands between quotes after ${text.slice(-40)}: leave the quotes out`,
      );
    if (/\$p\d+\b/.test(text)) throw new SyntaxError('aql: names like $p1 are those of the values');
  }
}

function checkValue(value: unknown): void {
  if (value instanceof AqlText) return;
  const isList = Array.isArray(value);
  for (const one of isList ? (value as unknown[]) : [value]) {
    if (typeof one === 'string' || typeof one === 'boolean') continue;
    if (typeof one === 'number' && Number.isFinite(one)) continue;
    if (one instanceof Date && !Number.isNaN(one.getTime())) continue;
    const what = one === null ? 'null: write EXISTS or NOT EXISTS' : typeof one;
    throw new TypeError(`aql: a value cannot be ${what}`);
  }
}

function sentOf(value: AqlValue): Sent {
  if (value instanceof Date) return value.toISOString();
  if (typeof value !== 'object') return value;
  return value.map((one) => (one instanceof Date ? one.toISOString() : one));
}

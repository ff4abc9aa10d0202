/** One input of a node, as the JSON of a web template has it (docs/spec/formats.md#web-template-json). */
export interface WebTemplateJsonInput {
  readonly suffix?: string;
  readonly listOpen?: boolean;
  readonly list?: readonly { readonly value: string; readonly label?: string }[];
}

/** A node of a web template in JSON: what a server gives, or what is made of an OPT. */
export interface WebTemplateJsonNode {
  readonly id: string;
  readonly name?: string;
  readonly rmType: string;
  /** Missing of attributes of the reference model, which the server fills in where it can. */
  readonly nodeId?: string;
  readonly min: number;
  /** -1: not limited. */
  readonly max: number;
  readonly aqlPath?: string;
  readonly inContext?: boolean;
  readonly localizedDescriptions?: Readonly<Record<string, string>>;
  readonly inputs?: readonly WebTemplateJsonInput[];
  readonly children?: readonly WebTemplateJsonNode[];
}

/** A web template in JSON. */
export interface WebTemplateJson {
  readonly templateId: string;
  readonly defaultLanguage: string;
  readonly tree: WebTemplateJsonNode;
}

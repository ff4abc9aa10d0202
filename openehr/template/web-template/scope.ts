import type { Code, ObjectConstraint, OperationalTemplate, Term, Terms } from '../opt/constraint.js';
import type { LocalizedTexts, WebTemplateListItem } from './web-template.js';
import { step } from '../../base/work.js';
import { OPENEHR, rubric, groupOfAttribute } from '../../rm/terminology/openehr.js';
import {
  MAX_TEMPLATE_NODES,
  MAX_TEMPLATE_TEXT,
  MAX_TREE_NODES,
  tooManyTemplateNodes,
} from '../opt/limits.js';
import { invalidTemplate } from '../opt/opt-xml.js';

/** Steps that making a node, its texts and its paths takes. */
const STEPS_OF_A_NODE = 200;

/** What was made of a template so far. */
interface Built {
  nodes: number;
  inTree: number;
  text: number;
}

/** Where codes are looked up while a part of the tree is built: the surrounding archetype, in every language. */
export class Scope {
  readonly opt: OperationalTemplate;
  readonly #terms: Terms;
  readonly #translations: ReadonlyMap<string, Terms> | undefined;
  readonly #built: Built;

  private constructor(
    opt: OperationalTemplate,
    terms: Terms,
    translations: ReadonlyMap<string, Terms> | undefined,
    built: Built,
  ) {
    this.opt = opt;
    this.#terms = terms;
    this.#translations = translations;
    this.#built = built;
  }

  /** The scope of the template's root. */
  static of(opt: OperationalTemplate): Scope {
    const { archetypeId, terms } = opt.definition.archetype;
    return new Scope(opt, terms, opt.translations.get(archetypeId), {
      nodes: 0,
      inTree: 0,
      text: 0,
    });
  }

  /** The scope below an object: another one when it is the root of an archetype. */
  below(node: ObjectConstraint): Scope {
    if (node.archetype === null) return this;
    const { archetypeId, terms } = node.archetype;
    return new Scope(this.opt, terms, this.opt.translations.get(archetypeId), this.#built);
  }

  /** Counts a node. @throws invalid when names that are listed several times multiply a subtree without end */
  count(): void {
    this.#built.nodes += 1;
    if (this.#built.nodes > MAX_TEMPLATE_NODES) throw tooManyTemplateNodes(this.#built.nodes);
    this.#countInTree();
  }

  /** Counts a node that the template does not name, and the characters it shows. @throws invalid when there are too many */
  countAdded(length: number): void {
    this.#countInTree();
    this.countText(length);
  }

  #countInTree(): void {
    step(STEPS_OF_A_NODE);
    this.#built.inTree += 1;
    if (this.#built.inTree > MAX_TREE_NODES)
      throw invalidTemplate(
        `its tree has more than ${MAX_TREE_NODES} nodes, with the types that open ELEMENTs can take`,
      );
  }

  /** Counts characters that a node shows. @throws invalid when all nodes together show too many */
  countText(length: number): void {
    this.#built.text += length;
    if (this.#built.text > MAX_TEMPLATE_TEXT)
      throw invalidTemplate(
        `the names, descriptions, paths and listed values of all nodes have more than ${MAX_TEMPLATE_TEXT} characters`,
      );
  }

  /** The term of an archetype code; in the default language when none is given. */
  term(code: string, language = this.opt.defaultLanguage): Term | undefined {
    const translated = this.#translations?.get(language)?.get(code);
    return language === this.opt.defaultLanguage ? (this.#terms.get(code) ?? translated) : translated;
  }

  /** What a code of the archetype is called, in any language; null when the archetype does not define it. */
  labels(code: string): ReadonlySet<string> | null {
    const terms = [this.#terms, ...(this.#translations?.values() ?? [])].map((known) => known.get(code));
    if (terms.every((term) => term === undefined)) return null;
    return new Set(terms.map((term) => term?.text).filter((text) => text !== undefined));
  }

  /** One item of a term in every language of the template or the ontology that has it. */
  localized(code: string, item: 'text' | 'description'): LocalizedTexts {
    return this.#inLanguages(
      this.#termLanguages(),
      (language) =>
        this.term(code, language)?.[item] ??
        (item === 'description' ? this.term(code, language)?.text : undefined),
    );
  }

  /** A permitted code with its labels (docs/spec/formats.md#opt-terms). `attribute` holds the coded value. */
  listItem({ terminologyId, code }: Code, attribute: string): WebTemplateListItem {
    this.countText(code.length);
    if (terminologyId === OPENEHR) return this.#openehrItem(code, attribute);
    const key =
      terminologyId !== 'local' && this.term(`${terminologyId}::${code}`)
        ? `${terminologyId}::${code}`
        : code;
    const label = this.term(key)?.text;
    if (label === undefined) return { value: code };
    const descriptions = this.#inLanguages(
      this.#termLanguages(),
      (language) => this.term(key, language)?.description,
    );
    return {
      value: code,
      label,
      localizedLabels: this.localized(key, 'text'),
      ...(Object.keys(descriptions).length > 0 ? { localizedDescriptions: descriptions } : {}),
    };
  }

  #openehrItem(code: string, attribute: string): WebTemplateListItem {
    const group = groupOfAttribute(attribute);
    if (group === null) return { value: code };
    const english = rubric(group, code, 'en');
    if (english === null) return { value: code };
    const labels = this.#inLanguages(this.languages, (language) => rubric(group, code, language) ?? english);
    return {
      value: code,
      label: labels[this.opt.defaultLanguage] ?? english,
      localizedLabels: { ...labels, en: english },
    };
  }

  /** The languages of the template, its own first. */
  get languages(): readonly string[] {
    return [this.opt.defaultLanguage, ...this.opt.languages];
  }

  #termLanguages(): readonly string[] {
    return [...this.languages, ...(this.#translations?.keys() ?? [])];
  }

  #inLanguages(
    languages: readonly string[],
    textIn: (language: string) => string | undefined,
  ): LocalizedTexts {
    const texts = new Map<string, string>();
    for (const language of new Set(languages)) {
      const found = textIn(language);
      if (found === undefined || found === '') continue;
      this.countText(found.length);
      texts.set(language, found);
    }
    return Object.fromEntries(texts);
  }
}

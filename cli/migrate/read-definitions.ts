import { hash } from 'node:crypto';
import { CdrError } from '../../openehr/base/errors.js';
import type { JsonObject } from '../../openehr/base/json.js';
import { collapsedToken } from '../../openehr/base/text.js';
import { textAt } from '../../openehr/rm/access.js';
import { compileTemplate, type CompiledTemplate } from '../../openehr/template/compile.js';
import type { OldServer } from './old-server.js';

const pathOf = (templateId: string): string =>
  `/definition/template/adl1.4/${encodeURIComponent(templateId)}`;
const keyOf = (templateId: string, digest: string): string => `${digest} ${collapsedToken(templateId)}`;

/** A template of the old server. */
interface OldTemplate {
  readonly templateId: string;
  /** The lines that bring it, one for each revision. */
  readonly lines: readonly string[];
  /** Why it cannot be used here; null: it can. */
  readonly problem: string | null;
}

/** Templates and stored queries of the old server, as lines of an interchange file. */
export class OldDefinitions {
  readonly #server: OldServer;
  /** By template id, and each revision by its digest as well. */
  readonly #compiled = new Map<string, CompiledTemplate>();

  constructor(server: OldServer) {
    this.#server = server;
  }

  /** All templates, as they are listed. @throws AnswerError */
  async *templates(): AsyncGenerator<OldTemplate> {
    for (const listed of await this.#server.list('/definition/template/adl1.4')) {
      const templateId = textAt(listed, 'template_id') ?? '';
      const earlier = await this.#earlier(templateId);
      const opt = await this.#server.text(pathOf(templateId), 'application/xml');
      if (opt === null) continue;
      const created_timestamp = textAt(listed, 'created_timestamp') ?? new Date().toISOString();
      const newest = {
        kind: 'template',
        template_id: templateId,
        created_timestamp,
        ...earlier.further,
        opt,
      };
      const problem = this.#problemOf(templateId, opt);
      yield { templateId, lines: [...earlier.lines, JSON.stringify(newest)], problem };
    }
  }

  /**
   * The compiled template, or that of the revision with this digest; null: the old server lists none of that id, or it cannot be
   * used here.
   */
  compiled(templateId: string, digest: string | null = null): CompiledTemplate | null {
    const revision = digest === null ? undefined : this.#compiled.get(keyOf(templateId, digest));
    return revision ?? this.#compiled.get(collapsedToken(templateId)) ?? null;
  }

  /** Whether a revision of a template comes with it. */
  knows(templateId: string, digest: string): boolean {
    return this.#compiled.has(keyOf(templateId, digest));
  }

  /** Lines of all revisions but the newest, and what that of the newest says beside its text. @throws AnswerError */
  async #earlier(
    templateId: string,
  ): Promise<{ readonly lines: readonly string[]; readonly further: JsonObject }> {
    const lines: string[] = [];
    let further: JsonObject = {};
    let before: string | null = null;
    for (const revision of (await this.#server.revisions(templateId)).reverse()) {
      const digest = textAt(revision, 'digest') ?? '';
      const opt = await this.#server.text(`${pathOf(templateId)}?revision=${digest}`, 'application/xml');
      if (opt === null) continue;
      const { uploaded_at = null, revision: name = null, uploaded_by } = revision;
      const said = {
        revision_name: name,
        ...(uploaded_by !== undefined && { uploaded_by }),
        ...(before !== null && { after: before }),
      };
      before = hash('sha256', opt);
      this.#problemOf(templateId, opt);
      further = said;
      const as = { kind: 'template', template_id: templateId, created_timestamp: uploaded_at };
      lines.push(JSON.stringify({ ...as, ...said, opt }));
    }
    // The newest is read as every server has it.
    return { lines: lines.slice(0, -1), further };
  }

  /** All stored queries. @throws AnswerError */
  async queries(): Promise<string[]> {
    const queries = await this.#server.list('/definition/query');
    return queries.map(({ name = null, version = null, saved = null, q = null }: JsonObject) =>
      JSON.stringify({ kind: 'stored_query', name, version, saved, q }),
    );
  }

  #problemOf(templateId: string, opt: string): string | null {
    try {
      const compiled = compileTemplate(opt);
      this.#compiled.set(collapsedToken(templateId), compiled);
      this.#compiled.set(keyOf(templateId, hash('sha256', opt)), compiled);
      return null;
    } catch (error) {
      if (!(error instanceof CdrError)) throw error;
      return error.message;
    }
  }
}

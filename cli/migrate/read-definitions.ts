import { CdrError } from '../../openehr/base/errors.js';
import type { JsonObject } from '../../openehr/base/json.js';
import { collapsedToken } from '../../openehr/base/text.js';
import { textAt } from '../../openehr/rm/access.js';
import { compileTemplate, type CompiledTemplate } from '../../openehr/template/compile.js';
import type { OldServer } from './old-server.js';

/** A template of the old server. */
interface OldTemplate {
  readonly templateId: string;
  /** The line that brings it. */
  readonly line: string;
  /** Why it cannot be used here; null: it can. */
  readonly problem: string | null;
}

/** Templates and stored queries of the old server, as lines of an interchange file. */
export class OldDefinitions {
  readonly #server: OldServer;
  readonly #compiled = new Map<string, CompiledTemplate>();

  constructor(server: OldServer) {
    this.#server = server;
  }

  /** All templates, as they are listed. @throws AnswerError */
  async *templates(): AsyncGenerator<OldTemplate> {
    for (const listed of await this.#server.list('/definition/template/adl1.4')) {
      const templateId = textAt(listed, 'template_id') ?? '';
      const opt = await this.#server.text(
        `/definition/template/adl1.4/${encodeURIComponent(templateId)}`,
        'application/xml',
      );
      if (opt === null) continue;
      const created_timestamp = textAt(listed, 'created_timestamp') ?? new Date().toISOString();
      const line = JSON.stringify({ kind: 'template', template_id: templateId, created_timestamp, opt });
      yield { templateId, line, problem: this.#problemOf(templateId, opt) };
    }
  }

  /** The compiled template; null: the old server lists none of that id, or it cannot be used here. */
  compiled(templateId: string): CompiledTemplate | null {
    return this.#compiled.get(collapsedToken(templateId)) ?? null;
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
      this.#compiled.set(collapsedToken(templateId), compileTemplate(opt));
      return null;
    } catch (error) {
      if (!(error instanceof CdrError)) throw error;
      return error.message;
    }
  }
}

import { compileTemplate, type CompiledTemplate } from '../../../openehr/template/compile.js';
import { fixtureText } from '../fixture.js';

const compiled = new Map<string, CompiledTemplate>();

/** A public template, compiled once per test file. */
export function publicTemplate(name: string): CompiledTemplate {
  const known = compiled.get(name);
  if (known !== undefined) return known;
  const template = compileTemplate(fixtureText(`opt/${name}.opt`));
  compiled.set(name, template);
  return template;
}

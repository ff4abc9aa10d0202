import { expect, it } from '@jest/globals';
import { compileTemplate } from '../../../../openehr/template/compile.js';
import { fixtureText } from '../../../../test/support/fixture.js';
import { RUNTIME_FILES, templateModule } from '../../src/main.js';

/** File of the module of a template with this id. */
function fileFor(templateId: string): string {
  const opt = fixtureText('opt/minimal_evaluation.en.v1.opt');
  const named = opt.replace(/<template_id>[^]*?<\/template_id>/, () => {
    return `<template_id><value>${templateId}</value></template_id>`;
  });
  return templateModule(compileTemplate(named)).fileName;
}

it.each(RUNTIME_FILES)('no template overwrites what every folder gets: %s', (file) => {
  const name = file.replace(/\.ts$/, '');
  for (const id of [name, name.toUpperCase(), `${name}.`])
    expect(RUNTIME_FILES.map((other) => other.toLowerCase())).not.toContain(fileFor(id).toLowerCase());
});

it.each(['../evil', '/etc/passwd', '..', 'a\\b', 'a/../b', '.'])(
  'no template leads out of the folder: %s',
  (templateId) => {
    expect(fileFor(templateId)).toMatch(/^[A-Za-z-]+\.ts$/);
  },
);

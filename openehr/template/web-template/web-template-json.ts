import type { JsonObject, JsonValue } from '../../base/json.js';
import type { OperationalTemplate } from '../opt/constraint.js';
import { WEB_TEMPLATE_VERSION, type WebTemplateNode } from './web-template.js';

/**
 * The web template as clients get it, to be written as JSON: it shares texts and lists with the nodes; `tree`
 * is the filtered tree (docs/spec/formats.md#web-template-json).
 */
export function webTemplateJson(opt: OperationalTemplate, tree: WebTemplateNode): JsonObject {
  return {
    templateId: opt.templateId,
    version: WEB_TEMPLATE_VERSION,
    defaultLanguage: opt.defaultLanguage,
    languages: [...opt.languages],
    tree: nodeJson(tree),
  };
}

function nodeJson(node: WebTemplateNode): JsonObject {
  const fields: Record<string, unknown> = {
    id: node.id,
    name: node.name,
    localizedName: node.localizedName,
    rmType: node.rmType,
    nodeId: node.nodeId,
    min: node.min,
    max: node.max,
    localizedNames: node.localizedNames,
    localizedDescriptions: node.localizedDescriptions,
    annotations: node.annotations,
    aqlPath: node.aqlPath,
    proportionTypes: node.proportionTypes,
    cardinalities: node.cardinalities,
    children: node.children.map(nodeJson),
    inputs: node.inputs,
    inContext: node.inContext === true ? true : undefined,
  };
  const json: JsonObject = {};
  for (const [name, value] of Object.entries(fields)) if (!isEmpty(value)) json[name] = value as JsonValue;
  return json;
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

/** A policy by its id. */
export type NamedPolicy = readonly [id: string, text: string];

/** Role of the one who asks. */
export const ASKS = 'WARD';
/** Tag of EHRs that are hidden from him, and the template of COMPOSITIONs that are. */
export const HIDDEN_TAG = 'access.vip';
const HIDDEN_TEMPLATE = 'Corona_Anamnese';

const HE_ASKS = `principal.roles.contains("${ASKS}")`;

/** Those that are about him, and about what he asks for: ten. */
const APPLYING: readonly string[] = [
  `permit (principal, action, resource is Ehr) when { ${HE_ASKS} };`,
  `permit (principal, action, resource is Version) when { ${HE_ASKS} && resource.kind == "EHR_STATUS" };`,
  `permit (principal, action, resource is Version) when { ${HE_ASKS} && resource.kind == "FOLDER" };`,
  `permit (principal, action, resource is Version)
   when { ${HE_ASKS} && resource has template_id && resource.template_id == "ehrbase_blood_pressure_simple.de.v0" };`,
  `permit (principal, action, resource is Version)
   when { ${HE_ASKS} && resource has template_id && resource.template_id like "*_Anamnese" };`,
  `forbid (principal, action, resource is Version)
   when { ${HE_ASKS} && resource.lifecycle_state == "800" };`,
  `forbid (principal, action, resource is Version)
   when { ${HE_ASKS} && resource has template_id && resource.template_id == "${HIDDEN_TEMPLATE}" };`,
  `forbid (principal, action, resource is Version)
   when { ${HE_ASKS} && resource has template_id && resource.template_id like "psychiatry*" };`,
  `forbid (principal, action, resource is Version)
   when { ${HE_ASKS} && resource has committer && resource.committer == "nobody" };`,
  `forbid (principal, action, resource is Version)
   when { ${HE_ASKS} && resource.time_committed < datetime("2000-01-01") };`,
];

/** So many policies, of which ten apply: of the others nine of ten are about other roles, and one about other templates. */
export function accessPolicies(count: number): NamedPolicy[] {
  const others = Array.from({ length: count - APPLYING.length }, (_, index) => otherPolicy(index));
  return [...APPLYING, ...others].map((text, index) => [`p-${String(index).padStart(5, '0')}`, text]);
}

function otherPolicy(index: number): string {
  const who = index % 10 > 0 ? `principal.roles.contains("ROLE_${index}")` : HE_ASKS;
  const effect = index % 4 < 2 ? 'permit' : 'forbid';
  return `${effect} (principal, action, resource is Version)
   when { ${who} && resource has template_id && resource.template_id == "template_${index}.v1" };`;
}

/** One that asks for a tag of EHRs: every tenth has it. */
export const ASKS_TAGS: NamedPolicy = [
  'tags',
  `forbid (principal, action, resource) when { ${HE_ASKS} && resource.hasTag("${HIDDEN_TAG}") };`,
];
/** One that asks for the name space of the subject, which none has. */
export const ASKS_NAMESPACE: NamedPolicy = [
  'namespace',
  `forbid (principal, action, resource is Ehr)
   when { ${HE_ASKS} && resource has namespace && resource.namespace == "nowhere" };`,
];
/** One that asks for what only content says. */
export const ASKS_CONTENT: NamedPolicy = [
  'content',
  `forbid (principal, action, resource is Version)
   when { ${HE_ASKS} && resource has composer && resource.composer == "nobody" };`,
];

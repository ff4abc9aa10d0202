import type { AttributeConstraint, Constraint, ObjectConstraint } from './constraint.js';
import { invalidTemplate } from './opt-xml.js';

/** Longest `target_path`: no path of an archetype comes near it. */
const MAX_PATH_LENGTH = 4_000;

interface PendingReference {
  readonly node: Omit<ObjectConstraint, 'attributes'> & { attributes: readonly AttributeConstraint[] };
  readonly targetPath: string;
  state: 'open' | 'resolving' | 'done';
}

/**
 * The ARCHETYPE_INTERNAL_REFs of one archetype: each takes the attributes of the object at its `target_path`
 * (docs/spec/formats.md#opt-constraints). The attributes are shared, not copied.
 */
export class InternalReferences {
  readonly #pending = new Map<Constraint, PendingReference>();
  /** Objects without an open reference below: looked through once, however many references lead there. */
  readonly #resolved = new Set<Constraint>();

  /** The object that stands for the reference; it has no attributes before `resolve`. */
  register(
    base: Pick<ObjectConstraint, 'rmType' | 'occurrences' | 'nodeId'>,
    targetPath: string,
  ): ObjectConstraint {
    const node = { kind: 'object' as const, ...base, attributes: [], archetype: null };
    this.#pending.set(node, { node, targetPath, state: 'open' });
    return node;
  }

  /** Fills in the attributes. @throws invalid when a target is missing or holds the reference itself */
  resolve(root: ObjectConstraint): void {
    for (const reference of this.#pending.values()) this.#resolveOne(reference, root);
  }

  #resolveOne(reference: PendingReference, root: ObjectConstraint): void {
    if (reference.state === 'done') return;
    const unusable = (reason: string) =>
      invalidTemplate(`internal reference ${reference.targetPath} ${reason}`);
    if (reference.state === 'resolving') throw unusable('leads back to itself');
    reference.state = 'resolving';
    const target = referenceTarget(root, reference.targetPath);
    if (target === null) throw unusable('has no target');
    this.#resolveBelow(target, root);
    reference.node.attributes = target.attributes;
    reference.state = 'done';
  }

  /** References within the target first: one that is still being resolved means a circle. */
  #resolveBelow(node: Constraint, root: ObjectConstraint): void {
    const reference = this.#pending.get(node);
    if (reference !== undefined) this.#resolveOne(reference, root);
    else if (
      node.kind === 'object' &&
      (node === root || node.archetype === null) &&
      !this.#resolved.has(node)
    ) {
      for (const attribute of node.attributes)
        for (const child of attribute.children) this.#resolveBelow(child, root);
      this.#resolved.add(node);
    }
  }
}

function referenceTarget(root: ObjectConstraint, path: string): ObjectConstraint | null {
  if (path.length > MAX_PATH_LENGTH) return null;
  let node: Constraint = root;
  for (const segment of path.split('/').filter((part) => part !== '')) {
    const match = /^(\w+)(?:\[([^\]\s,]+)(?:[\s,][^\]]*)?\])?$/.exec(segment);
    if (match === null || node.kind !== 'object') return null;
    const [, name, nodeId] = match;
    const children: readonly Constraint[] =
      node.attributes.find((attribute) => attribute.name === name)?.children ?? [];
    const next: Constraint | undefined =
      nodeId === undefined
        ? children[0]
        : children.find((child) => child.nodeId === nodeId || archetypeIdOf(child) === nodeId);
    if (next === undefined) return null;
    node = next;
  }
  return node.kind === 'object' ? node : null;
}

function archetypeIdOf(node: Constraint): string | null {
  return node.kind === 'object' ? (node.archetype?.archetypeId ?? null) : null;
}

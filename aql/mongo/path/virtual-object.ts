import { FIELD, type IndexField } from '../../index/document.js';
import { IMPORTED_KEY } from '../../index/keys.js';
import { indexedField } from '../../index/indexed-paths.js';
import type { PathNode } from '../../semantics/scope-types.js';
import { latestMatch } from '../document/document-scope.js';
import type { Visibility } from '../document/document-scope.js';
import { call, fieldRef, map, variable } from '../../plan/expression.js';
import type { Expression, Field } from '../../plan/expression.js';
import { documentField } from './binding.js';
import type { AliasBinding, NodeBinding } from './binding.js';
import { lookup, type SourceCollection, type Step } from '../../plan/steps.js';
import type { RootType } from '../../../openehr/rm/root-type.js';
import { counted } from '../../../openehr/base/work.js';

/**
 * The value of an attribute of an EHR or a VERSION. Neither is stored as an RM object: each attribute is put
 * together when a path asks for it.
 */
export function attributeOfVirtualObject(
  binding: AliasBinding,
  { attribute, inDocument }: { readonly attribute: string; readonly inDocument: boolean },
  visibility: Visibility,
  steps: Step[],
): NodeBinding {
  const object = new VirtualObject(binding, visibility, steps);
  if (binding.alias.kind === 'version') return object.ofVersion(attribute, inDocument);
  return object.ofEhr(attribute);
}

/** The whole EHR or VERSION as an RM object (without `data`), as an expression. */
export function wholeVirtualObject(binding: AliasBinding, visibility: Visibility, steps: Step[]): Field {
  const object = new VirtualObject(binding, visibility, steps);
  return binding.alias.kind === 'version' ? object.wholeVersion() : object.wholeEhr();
}

/** Whether the paths below an attribute of VERSION read nothing but what the `aql` document repeats. */
export function isInDocument(child: PathNode): boolean {
  return counted(child.uses).every(({ path }) => {
    const isPlain = counted(path.steps).every(({ predicate }) => predicate === null);
    return isPlain && indexedField('VERSION', path.steps) !== null;
  });
}

const TIME_TEXT = '%Y-%m-%dT%H:%M:%S.%L000Z';

class VirtualObject {
  private readonly name: string;

  constructor(
    private readonly binding: AliasBinding,
    private readonly visibility: Visibility,
    private readonly steps: Step[],
  ) {
    this.name = `h${binding.alias.index}`;
  }

  ofEhr(attribute: string): NodeBinding {
    switch (attribute) {
      case 'ehr_id':
        return this.set('id', identifier('HIER_OBJECT_ID', this.slot()));
      case 'system_id':
        this.joinEhr();
        return this.set('sys', identifier('HIER_OBJECT_ID', this.ehrField('system_id')));
      case 'time_created':
        this.joinEhr();
        return this.set('tc', timeObject(this.ehrField('time_created')));
      case 'ehr_status':
        return this.latestRoot('EHR_STATUS', 'st');
      case 'directory':
        return this.latestRoot('FOLDER', 'dir');
      case '_type':
        return this.set('type', whenPresent(this.slot(), 'EHR'));
      case 'ehr_access':
        return this.set('acc', null);
      default:
        return this.references(attribute);
    }
  }

  /** As `ehrObject` (aql/semantics/ehr-object.ts) shows a whole EHR: empty lists are left out. */
  wholeEhr(): Field {
    this.joinEhr();
    this.latestRoot('EHR_STATUS', 'st');
    this.latestRoot('FOLDER', 'dir');
    const status = call('$first', fieldRef(`${this.name}st._id`));
    const directory = call('$first', fieldRef(`${this.name}dir.${FIELD.versionedObjectUid}`));
    const list = (attribute: string): Expression => {
      const { expression } = this.references(attribute);
      return call('$cond', [call('$eq', [expression, []]), variable('REMOVE'), expression]);
    };
    const object = {
      _type: 'EHR',
      system_id: identifier('HIER_OBJECT_ID', this.ehrField('system_id')),
      ehr_id: identifier('HIER_OBJECT_ID', this.slot()),
      time_created: timeObject(this.ehrField('time_created')),
      ehr_status: whenPresent(status, objectRefExpression(status, 'EHR_STATUS', 'OBJECT_VERSION_ID')),
      directory: whenPresent(directory, objectRefExpression(directory, 'VERSIONED_FOLDER')),
      compositions: list('compositions'),
      contributions: list('contributions'),
    };
    return this.set('all', call('$cond', [call('$gt', [this.slot(), null]), object, null])).expression;
  }

  ofVersion(attribute: string, inDocument: boolean): NodeBinding {
    switch (attribute) {
      case 'uid':
        return this.set('uid', identifier('OBJECT_VERSION_ID', this.field(FIELD.versionUid)));
      case 'contribution':
        return this.set('con', objectRefExpression(this.field(FIELD.contributionUid), 'CONTRIBUTION'));
      case 'data':
        return {
          ...this.set('d', call('$first', this.field(FIELD.segments))),
          expression: fieldRef(`${this.name}d.o`),
        };
      case '_type':
        return this.set('type', whenPresent(this.field(FIELD.versionUid), this.versionClass()));
      default:
        return this.set(attribute, inDocument ? this.fromDocument(attribute) : this.fromVersion(attribute));
    }
  }

  wholeVersion(): Field {
    const object = {
      _type: 'ORIGINAL_VERSION',
      contribution: objectRefExpression(this.field(FIELD.contributionUid), 'CONTRIBUTION'),
      commit_audit: this.fromVersion('commit_audit'),
      uid: identifier('OBJECT_VERSION_ID', this.field(FIELD.versionUid)),
      preceding_version_uid: this.fromVersion('preceding_version_uid'),
      other_input_version_uids: this.fromVersion('other_input_version_uids'),
      lifecycle_state: this.fromVersion('lifecycle_state'),
      attestations: this.fromVersion('attestations'),
      signature: this.fromVersion('signature'),
      item: this.versionField('item'),
      data: this.versionField('data'),
    };
    return this.set('all', call('$cond', [call('$gt', [this.field(FIELD.versionUid), null]), object, null]))
      .expression;
  }

  private versionClass(): Expression {
    const { classes } = this.binding.alias;
    const [only] = classes;
    if (classes.length === 1 && only !== undefined) return only;
    const isImported = call('$in', [IMPORTED_KEY, call('$ifNull', [this.field(FIELD.keys), []])]);
    return call('$cond', [isImported, 'IMPORTED_VERSION', 'ORIGINAL_VERSION']);
  }

  /** An ORIGINAL_VERSION but for its `data`, which the IMPORTED_VERSION has too. */
  private itemOfVersion(): Expression {
    const [item, preceding] = [this.versionField('item'), this.versionField('preceding_version_uid')];
    const inputs = this.versionField('other_input_version_uids');
    const whole = {
      _type: 'ORIGINAL_VERSION',
      uid: identifier('OBJECT_VERSION_ID', this.field(FIELD.versionUid)),
      preceding_version_uid: whenPresent(preceding, identifier('OBJECT_VERSION_ID', preceding)),
      other_input_version_uids: whenPresent(
        inputs,
        map(inputs, 'u', identifier('OBJECT_VERSION_ID', variable('u'))),
      ),
      lifecycle_state: this.versionField('lifecycle_state'),
      attestations: this.versionField('attestations'),
    };
    return whenPresent(item, call('$mergeObjects', [whole, item]));
  }

  private fromDocument(attribute: string): Expression {
    if (attribute === 'lifecycle_state') return codedExpression(this.field(FIELD.lifecycleState));
    return {
      _type: 'AUDIT_DETAILS',
      time_committed: timeObject(this.field(FIELD.timeCommitted)),
      change_type: codedExpression(this.field(FIELD.changeType)),
    };
  }

  private fromVersion(attribute: string): Expression {
    this.join(
      { as: `${this.name}v`, from: 'versions', local: this.field(FIELD.versionUid), foreign: '_id' },
      [],
    );
    const stored = this.versionField(attribute);
    switch (attribute) {
      case 'commit_audit':
        return this.auditWithInstant(stored);
      case 'item':
        return this.itemOfVersion();
      case 'preceding_version_uid':
        return whenPresent(stored, identifier('OBJECT_VERSION_ID', stored));
      case 'other_input_version_uids':
        return whenPresent(stored, map(stored, 'u', identifier('OBJECT_VERSION_ID', variable('u'))));
      default:
        return stored;
    }
  }

  private auditWithInstant(stored: Expression): Expression {
    const time = { _m: call('$toLong', this.versionField('time_committed')) };
    const committed = call('$mergeObjects', [this.versionField('commit_audit.time_committed'), time]);
    return call('$mergeObjects', [stored, { time_committed: committed }]);
  }

  private versionField(field: string): Expression {
    return call('$first', fieldRef(`${this.name}v.${field}`));
  }

  private latestRoot(type: 'EHR_STATUS' | 'FOLDER', suffix: string): NodeBinding {
    const as = `${this.name}${suffix}`;
    // The key lets an index find the one document; by the EHR alone each row would look at all documents of it.
    const match = latestMatch([{ [FIELD.rootType]: type, [FIELD.keys]: type }], this.visibility);
    this.join({ as, from: 'aql', local: this.slot(), foreign: FIELD.ehrId, of: type }, [
      { kind: 'match', match },
    ]);
    this.set(`${suffix}s`, call('$first', fieldRef(`${as}.${FIELD.segments}`)));
    this.set(`${suffix}o`, call('$first', fieldRef(`${as}s`)));
    return { expression: fieldRef(`${as}o.o`), parent: null, guard: true, segs: fieldRef(`${as}s`) };
  }

  private references(attribute: string): NodeBinding {
    const as = `${this.name}${attribute}`;
    const { asOf } = this.visibility;
    if (attribute === 'contributions') {
      const until: Step[] =
        asOf === null ? [] : [{ kind: 'match', match: { time_committed: { $lte: asOf } } }];
      const steps: Step[] = [
        ...until,
        {
          kind: 'sort',
          keys: [
            ['time_committed', 1],
            ['_id', 1],
          ],
        },
      ];
      this.join({ as, from: 'contributions', local: this.slot(), foreign: 'ehr_id' }, steps);
      return this.set(
        `${attribute}r`,
        map(fieldRef(`${as}._id`), 'r', objectRefExpression(variable('r'), 'CONTRIBUTION')),
      );
    }
    const type = attribute === 'folders' ? 'FOLDER' : 'COMPOSITION';
    const steps: Step[] = [
      { kind: 'match', match: { type, ...(asOf === null ? { deleted: false } : {}) } },
      {
        kind: 'sort',
        keys: [
          ['time_created', 1],
          ['_id', 1],
        ],
      },
    ];
    this.join({ as, from: 'versioned_objects', local: this.slot(), foreign: 'ehr_id', of: type }, steps);
    const ids = asOf === null ? fieldRef(`${as}._id`) : this.extant(fieldRef(`${as}._id`), type);
    return this.set(`${attribute}r`, map(ids, 'r', objectRefExpression(variable('r'), `VERSIONED_${type}`)));
  }

  /** Those of the containers that had a version with data at `as_of`. */
  private extant(ids: Field, type: 'FOLDER' | 'COMPOSITION'): Expression {
    const as = `${this.name}${type}x`;
    const match = latestMatch([{ [FIELD.rootType]: type }], this.visibility);
    this.join({ as, from: 'aql', local: this.slot(), foreign: FIELD.ehrId, of: type }, [
      { kind: 'match', match },
    ]);
    const extant = fieldRef(`${as}.${FIELD.versionedObjectUid}`);
    return call('$filter', { input: ids, as: 'r', cond: call('$in', [variable('r'), extant]) });
  }

  private joinEhr(): void {
    this.join({ as: `${this.name}e`, from: 'ehrs', local: this.slot(), foreign: '_id' }, []);
  }

  private ehrField(field: string): Expression {
    return call('$first', fieldRef(`${this.name}e.${field}`));
  }

  private slot(): Field {
    return this.binding.slot ?? fieldRef('_id');
  }

  private field(name: IndexField): Field {
    return documentField(this.binding, name);
  }

  private set(suffix: string, value: Expression): NodeBinding {
    const field = `${this.name}${suffix}`;
    if (!counted(this.steps).some((step) => step.kind === 'set' && step.field === field))
      this.steps.push({ kind: 'set', field, value });
    return { expression: fieldRef(field), parent: null, guard: true, segs: this.field(FIELD.segments) };
  }

  private join({ as, from, local, foreign, of }: VirtualJoin, inner: readonly Step[]): void {
    if (counted(this.steps).some((step) => step.kind === 'lookup' && step.as === as)) return;
    const join = { as, from, localField: local.path, foreignField: foreign };
    this.steps.push(lookup(join, inner, { ofFolders: of === 'FOLDER' }));
  }
}

/** A join by a field of the object. */
interface VirtualJoin {
  readonly as: string;
  readonly from: SourceCollection;
  readonly local: Field;
  readonly foreign: string;
  /** The one kind of versioned object that is joined. */
  readonly of?: RootType;
}

function identifier(type: string, value: Expression): Expression {
  return { _type: type, value };
}

function objectRefExpression(id: Expression, type: string, idType = 'HIER_OBJECT_ID'): Expression {
  return { _type: 'OBJECT_REF', id: identifier(idType, id), namespace: 'local', type };
}

function timeObject(date: Expression): Expression {
  return {
    _type: 'DV_DATE_TIME',
    value: call('$dateToString', { date, format: TIME_TEXT }),
    _m: call('$toLong', date),
  };
}

function codedExpression(code: Expression): Expression {
  return { _type: 'DV_CODED_TEXT', defining_code: { _type: 'CODE_PHRASE', code_string: code } };
}

function whenPresent(value: Expression, object: Expression): Expression {
  return call('$cond', [call('$gt', [value, null]), object, variable('REMOVE')]);
}

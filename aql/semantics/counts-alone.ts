import { CdrError } from '../../openehr/base/errors.js';
import { counted } from '../../openehr/base/work.js';
import type { Aggregate, BoundQuery } from '../syntax/ast.js';
import { classesOf } from '../syntax/walk.js';

/** The variable of an EHR that the text gives none: no text can name it. */
const EHR = '#ehr';

/**
 * A query of which counts alone are answered, with one column more behind its own: of how many EHRs they are. Counts of several
 * EHRs at once would tell of one what is counted of others. docs/access.md#counts-alone
 * @throws forbidden for anything else than counts, and for a FROM that does not begin with the only EHR
 */
export function countsAlone(query: BoundQuery): BoundQuery {
  const { select, from } = query;
  const isCounts = counted(select.columns).every(
    ({ expression }) => expression.kind === 'aggregate' && expression.name === 'COUNT',
  );
  if (!isCounts) throw refused('each column of SELECT is a COUNT');
  if (from.kind !== 'class' || from.className !== 'EHR') throw refused('FROM begins with EHR');
  const ehrs = counted([...classesOf(from)]).filter(({ className }) => className === 'EHR');
  if (ehrs.length !== 1) throw refused('FROM has one EHR');
  const { at } = from;
  const variable = from.variable ?? EHR;
  const expression: Aggregate = {
    kind: 'aggregate',
    name: 'COUNT',
    distinct: true,
    argument: {
      kind: 'path',
      variable,
      predicate: null,
      steps: ['ehr_id', 'value'].map((attribute) => ({ attribute, predicate: null, at })),
      at,
    },
    at,
  };
  const column = { expression, alias: null, text: '', at };
  return {
    ...query,
    from: { ...from, variable },
    select: { ...select, columns: [...select.columns, column] },
  };
}

function refused(what: string): CdrError {
  return new CdrError(
    'forbidden',
    `policies of access answer you counts alone: ${what}, as in SELECT COUNT(c) FROM EHR e CONTAINS COMPOSITION c`,
  );
}

import type { FormPart } from '../../form/parts.js';
import type { FlatValue } from '../../form/values.js';

/** What every input of a form gets. */
export interface PartProps {
  readonly part: FormPart;
  readonly label: string;
  readonly isRequired: boolean;
  readonly error: string | undefined;
  readonly value: FlatValue | undefined;
  readonly onChange: (value: FlatValue | undefined) => void;
  /** Several parts of the field at once, by their suffixes. */
  readonly onChangeParts: (parts: Readonly<Record<string, FlatValue | undefined>>) => void;
}

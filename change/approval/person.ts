import { CdrError } from '../../openehr/base/errors.js';
import type { Administrator } from '../../models/waiting-request.js';

/** Issuer of the users with passwords. */
const BASIC_ISSUER = 'basic';

/**
 * Two persons, not two ways in: an issuer says where somebody was asked who he is, so it tells nobody apart. See
 * docs/spec/merge.md#two-persons.
 * @throws forbidden when who confirms is who asked, or it cannot be told
 */
export function requireSecondPerson(requester: Administrator, administrator: Administrator): void {
  const names = namesOf(administrator);
  if (namesOf(requester).some((name) => names.includes(name)))
    throw new CdrError(
      'forbidden',
      'another administrator than the one who asked for it has to confirm it, by whatever way he signs in',
    );
  if ((personOf(requester) === null) !== (personOf(administrator) === null))
    throw new CdrError(
      'forbidden',
      'it cannot be told whether a user with a password and one with a token are two persons: `everchart user add --replace --person <sub>` says whose password it is',
    );
}

/** The `sub` of the person's tokens; null: a user with a password of whom nobody said it. */
function personOf({ sub, iss, person }: Administrator): string | null {
  return person ?? (iss === BASIC_ISSUER ? null : sub);
}

function namesOf(administrator: Administrator): string[] {
  const person = personOf(administrator);
  const { sub, iss } = administrator;
  const names = [...(person === null ? [] : [person]), ...(iss === BASIC_ISSUER ? [sub] : [])];
  // A capital, or a letter written in two ways, makes no second person.
  return names.map((name) => name.normalize('NFC').toLowerCase());
}

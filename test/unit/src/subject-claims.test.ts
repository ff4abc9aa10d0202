import { describe, expect, it } from '@jest/globals';
import { PURPOSES_OF_USE, RESEARCH_PURPOSES } from '../../../policy/purposes.js';
import { subjectClaimsOf } from '../../../src/identity/subject-claims.js';

const NAMES = {
  claimOrganisation: 'ext.organisation',
  claimPurpose: 'purpose_of_use',
  otherPurposes: ['ROUNDS'],
  claimEhr: 'ehrId',
  claimOwnEhr: 'ownEhrId',
};
const EHR = '5f1c9a6e-1b7d-4e0a-9c3b-0a8b6d2f4e11';

describe('the purpose of a token', () => {
  it.each([...PURPOSES_OF_USE, 'ROUNDS'])('may be %s', (purpose) => {
    expect(subjectClaimsOf({ purpose_of_use: purpose }, NAMES).purpose).toBe(purpose);
  });

  // Written otherwise a purpose of research would be none, and what patients object to would be answered.
  it.each(
    RESEARCH_PURPOSES.flatMap((code) => [code.toLowerCase(), ` ${code}`, `${code}S`, `http://x|${code}`]),
  )('is not to be read as %j', (purpose) => {
    expect(() => subjectClaimsOf({ purpose_of_use: purpose }, NAMES)).toThrow(
      /the claim purpose_of_use is no code/,
    );
  });

  it('that is nearly one is told which', () => {
    expect(() => subjectClaimsOf({ purpose_of_use: 'hresch' }, NAMES)).toThrow('did you mean HRESCH?');
  });
});

it('the EHR of the user and the one that an application was opened for are two claims', () => {
  expect(subjectClaimsOf({ ehrId: EHR }, NAMES)).toEqual({
    openedFor: { id: EHR, claim: 'ehrId' },
    scopes: [],
  });
  expect(subjectClaimsOf({ ownEhrId: EHR }, NAMES)).toEqual({
    ehr: { id: EHR, claim: 'ownEhrId' },
    scopes: [],
  });
});

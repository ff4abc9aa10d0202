import { describe, expect, it } from '@jest/globals';
import { patientOf } from '../../../console/src/record/patient.js';

describe('whose record it is', () => {
  it('is what the EHR_STATUS says: subject, namespace, and every element with a value', () => {
    const element = (value?: string) => ({
      _type: 'ELEMENT',
      ...(value !== undefined && { value: { value } }),
    });
    const status = {
      subject: { external_ref: { namespace: 'ward', id: { value: 'P-1' } } },
      other_details: { items: [element('1980'), { _type: 'CLUSTER', items: [element('f'), element()] }] },
    };
    expect(patientOf(status)).toEqual({
      subject: 'P-1',
      namespace: 'ward',
      elements: [element('1980'), element('f')],
    });
    expect(patientOf(undefined)).toEqual({ subject: '', namespace: '', elements: [] });
  });
});

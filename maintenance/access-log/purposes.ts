/** What people ask for, by the codes of HL7 v3 ActReason (PurposeOfUse), in the words of a report. */
const PURPOSES: Readonly<Record<string, { readonly en: string; readonly de: string }>> = {
  TREAT: { en: 'treatment', de: 'Behandlung' },
  CAREMGT: { en: 'care management', de: 'Steuerung der Versorgung' },
  COC: { en: 'coordination of care', de: 'Abstimmung der Versorgung' },
  CLINTRCH: { en: 'clinical trial', de: 'klinische Studie' },
  ETREAT: { en: 'emergency', de: 'Notfall' },
  BTG: { en: 'emergency: a restriction was passed', de: 'Notfall: eine Einschränkung wurde übergangen' },
  HRESCH: { en: 'research', de: 'Forschung' },
  HPAYMT: { en: 'payment', de: 'Abrechnung' },
  HOPERAT: { en: 'running the hospital', de: 'Betrieb der Einrichtung' },
  HSYSADMIN: { en: 'administration of the system', de: 'Verwaltung des Systems' },
  PATADMIN: { en: 'administration of patients', de: 'Patientenverwaltung' },
  PATRQT: { en: 'asked for by the patient', de: 'auf Wunsch des Patienten' },
  FAMRQT: { en: 'asked for by the family', de: 'auf Wunsch der Angehörigen' },
  PUBHLTH: { en: 'public health', de: 'öffentliche Gesundheit' },
  HLEGAL: { en: 'law', de: 'Recht' },
  HQUALIMP: { en: 'improving quality', de: 'Qualitätssicherung' },
};

/** The words for a purpose; another code, or a text, as it is. */
export function purposeText(purpose: string, language: 'en' | 'de'): string {
  const code = purpose.trim().toUpperCase();
  return Object.hasOwn(PURPOSES, code) ? (PURPOSES[code]?.[language] ?? purpose) : purpose;
}

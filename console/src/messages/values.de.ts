import type { values as english } from './values.en.js';

/** What is said of values beside them, in German. */
export const values: Readonly<Record<keyof typeof english, string>> = {
  'time.noZone': 'ohne Zeitzone erfasst',
  'time.stored': 'gespeichert {time}',
  'range.normal': 'normal',
  'range.any': 'beliebig',
  'status.HHH': 'kritisch hoch',
  'status.HH': 'deutlich erhöht',
  'status.H': 'grenzwertig hoch',
  'status.N': 'normal',
  'status.L': 'grenzwertig niedrig',
  'status.LL': 'deutlich erniedrigt',
  'status.LLL': 'kritisch niedrig',
  'status.above': 'über dem Normalbereich',
  'status.below': 'unter dem Normalbereich',
  'document.state': 'Zustand',
  'document.protocol': 'Durchführung',
  'document.about': 'Über dieses Dokument',
  'diff.moved': 'umgeordnet:',
  'signIn.over': 'Ihre Sitzung ist abgelaufen. Melden Sie sich neu an: Ihre Eingaben bleiben erhalten.',
  'form.savedBefore': 'Bereits gespeichert',
  'form.savedBeforeHint':
    'Ein früherer Versuch wurde gespeichert, obwohl die Antwort nicht ankam. Öffnen Sie die Akte, um das Dokument zu sehen; was Sie seither geändert haben, steht nicht darin.',
  'form.away':
    'Ihre Eingaben bleiben hier erhalten. Speichern Sie erneut, sobald der Server wieder antwortet: Es wird nur einmal gespeichert.',
  'patient.banner': 'Patientin oder Patient',
  'patient.nobody': 'Niemand benannt',
  'party.self': 'die Patientin oder der Patient',
  'null.253': 'unbekannt',
  'null.271': 'keine Angabe',
  'null.272': 'nicht einsehbar',
  'null.273': 'nicht anwendbar',
};

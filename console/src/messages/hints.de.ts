import type { hints as english } from './hints.en.js';

/** What explain advises, plans that wait for a second person, fields of the builder, what an operator is told; in German. */
export const hints: Readonly<Record<keyof typeof english, string>> = {
  'hint.whole_read':
    'Eine ganze Collection wird gelesen, da kein Index passt: in FROM einen Archetyp oder eine Akte nennen',
  'hint.all_rows':
    'Alle Akten werden durchsucht und alle Zeilen beantwortet: mit fetch und offset blättern oder als NDJSON lesen',
  'hint.in_process_evaluate':
    'Gruppen von Objekten, die andere Archetypen enthalten, bildet der Server: die Pipeline findet nur die Akten; einfache Werte auszuwählen vermeidet es',
  'hint.in_process_distinct':
    'Über DISTINCT von Objekten, die andere Archetypen enthalten, entscheidet der Server nach der Pipeline: einfache Werte auszuwählen vermeidet es',
  'hint.reads_leaves': 'WHERE sucht die Dokumente über den Index der Werte aus',
  'hint.superseded': 'Auch abgelöste Versionen werden durchsucht',
  'hint.probe':
    'Die ersten {documents} Dokumente des Index der Werte zeigen, welche anderen unter den Zeilen sein können: die Stufen lesen nur diese',
  'hint.waste': 'Liest {examined} Dokumente für {rows} Zeilen',
  'hint.because': '{read}, weil kein Index {condition} dient: {why}',
  'hint.waste_no_where':
    'es gibt kein WHERE; eine Bedingung an einen Pfad, dessen Knoten alle at-Codes haben, verglichen mit einem festen Wert, würde den Index nutzen',
  'hint.waste_wide':
    'alle Bedingungen nutzen einen Index und lassen doch die meisten Dokumente durch; eine Akte oder einen engeren Bereich nennen',
  'hint.waste_at_code':
    'der Pfad hat keinen at-Code bei {detail}; mit einem an jedem Knoten würde diese Bedingung den Index nutzen',
  'hint.waste_archetype':
    'FROM gibt {detail} nicht genau einen Archetyp; mit [openEHR-EHR-…] könnte diese Bedingung den Index nutzen',
  'hint.waste_no_literal':
    'sie vergleicht mit einem anderen Pfad oder einer Funktion; mit einem festen Wert verglichen würde sie den Index nutzen',
  'hint.waste_ending':
    'der Index hat {detail} nicht so, wie es hier verglichen wird; er hat magnitude, value und code_string, Texte nur für =',
  'hint.waste_operator':
    '{detail} sucht keine Dokumente aus; =, <, > oder MATCHES eines Wertes würde den Index nutzen',
  'hint.waste_or': 'eine Seite des OR nutzt keinen; tun es alle Seiten, so nutzt diese Bedingung den Index',
  'hint.waste_no_path':
    'sie vergleicht keinen Pfad; ein Pfad, mit einem festen Wert verglichen, würde den Index nutzen',
  'hint.waste_off':
    'diese Datenbank führt keinen Index solcher Werte oder vergleicht auch spezialisierte Archetypen (AQL_LEAF_INDEX, AQL_SUBSUMPTION)',
  'hint.unknown_archetype': 'Zeile {line}:{column}: kein gespeichertes Template hat den Archetyp {name}',
  'hint.unknown_node':
    'Zeile {line}:{column}: kein gespeichertes Template hat den Knoten {name} in {archetype}',
  'hint.unknown_template': 'Zeile {line}:{column}: kein gespeichertes Template heißt {name}',
  'hint.type_mismatch':
    'Zeile {line}:{column}: {literal} und {path}, dessen Werte von der Art {domains} sind, sind niemals gleich',
  'hint.nearest': 'ist {nearest} gemeint?',
  'field.ehr_id': 'Nummer der Akte',
  'field.subject_id': 'Nummer der Person',
  'field.ehr_created': 'Akte angelegt',
  'field.version_uid': 'Kennung der Version',
  'field.document_name': 'Titel des Dokuments',
  'field.document_start': 'Anfang des Dokuments',
  'field.composer': 'Verfasser',
  'field.template': 'Template',
  'field.origin': 'Beginn der Aufzeichnung',
  'approval.says.move': 'Ein Dokument kommt mit allen Versionen in eine andere Akte',
  'approval.says.erase': 'Sie wird mit allem, was darin ist, entfernt',
  'approval.says.finalise': 'Die Zusammenführung kann nie mehr zurückgenommen werden',
  'approval.says.putPolicy': 'Sie besagt von da an etwas anderes, für alle',
  'approval.says.putCategories':
    'Regeln und Einschränkungen, die eine Kategorie nennen, meinen von da an, was sie dann ist',
  'approval.says.removePolicy': 'Sie gilt von da an nicht mehr, für alle',
  'fact.object_id': 'Dokument',
  'fact.versions': 'Versionen',
  'fact.contributions': 'Beiträge',
  'fact.contributions_kept': 'Beiträge, die bleiben',
  'fact.item_tags': 'Etiketten',
  'fact.folder_items': 'Einträge von Ordnern',
  'fact.compositions': 'Dokumente',
  'fact.merged_ehrs': 'Akten, die in ihr aufgingen',
  'fact.merge_id': 'Zusammenführung',
  'fact.merge_date': 'zusammengeführt',
  'needs.emergencies': 'Notfallzugriffe am letzten Tag: {count}',
  'needs.refused': '{count} abgewiesene {count|Anmeldung|Anmeldungen} am letzten Tag',
  'needs.neverChecked': 'Was gespeichert ist, wurde nie geprüft',
  'needs.oldCheck': 'Was gespeichert ist, wurde zuletzt {ago} geprüft',
  'verify.parts': 'Was die Prüfung fand',
  'verify.asJson': 'Als JSON',
};

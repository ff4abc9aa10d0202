/** What explain advises, plans that wait for a second person, fields of the builder, what an operator is told; in English. */
export const hints = {
  'hint.whole_read': 'A whole collection is read, as no index fits: name an archetype or an EHR in FROM',
  'hint.all_rows':
    'Every EHR is searched and all rows are answered: page with fetch and offset, or stream as NDJSON',
  'hint.in_process_evaluate':
    'Groups of objects that hold other archetypes are made by the server: the pipeline only finds the EHRs; select primitive values to avoid it',
  'hint.in_process_distinct':
    'DISTINCT over objects that hold other archetypes is decided by the server after the pipeline: select primitive values to avoid it',
  'hint.reads_leaves': 'WHERE picks the documents by the leaf index',
  'hint.superseded': 'Superseded versions are searched as well',
  'hint.probe':
    'The first {documents} documents of the leaf index show which others can be among the rows: the stages are those that read them',
  'hint.waste': 'Reads {examined} documents for {rows} rows',
  'hint.because': '{read} because no index serves {condition}: {why}',
  'hint.waste_no_where':
    'it has no WHERE; a condition on a path whose nodes all have at-codes, compared with a literal, would use the index',
  'hint.waste_wide':
    'all conditions use an index, and still let most documents through; name an EHR or a narrower range',
  'hint.waste_at_code':
    'its path has no at-code at {detail}; with one at each node this condition would use the index',
  'hint.waste_archetype':
    'FROM gives {detail} no one archetype; with [openEHR-EHR-…] this condition could use the index',
  'hint.waste_no_literal':
    'it compares with another path or a function; compared with a literal it would use the index',
  'hint.waste_ending':
    'the index does not hold {detail} as it is compared here; magnitude, value and code_string are held, texts for = alone',
  'hint.waste_operator': '{detail} picks no documents; =, <, > or MATCHES of a value would use the index',
  'hint.waste_or': 'one side of its OR uses none; when all sides do, this condition uses the index',
  'hint.waste_no_path': 'it compares no path; a path compared with a literal would use the index',
  'hint.waste_off':
    'this database keeps no index of such values, or matches specialised archetypes (AQL_LEAF_INDEX, AQL_SUBSUMPTION)',
  'hint.unknown_archetype': 'Line {line}:{column}: no stored template has the archetype {name}',
  'hint.unknown_node': 'Line {line}:{column}: no stored template has the node {name} in {archetype}',
  'hint.unknown_template': 'Line {line}:{column}: no stored template is named {name}',
  'hint.type_mismatch':
    'Line {line}:{column}: {literal} and {path}, whose values are of the domain {domains}, are never equal',
  'hint.nearest': 'did you mean {nearest}?',
  'field.ehr_id': 'EHR id',
  'field.subject_id': 'Subject id',
  'field.ehr_created': 'EHR created',
  'field.version_uid': 'Version uid',
  'field.document_name': 'Name of the document',
  'field.document_start': 'Start of the document',
  'field.composer': 'Composer',
  'field.template': 'Template',
  'field.origin': 'Origin',
  'approval.says.move': 'A document with all its versions goes to another record',
  'approval.says.erase': 'It is removed with everything in it',
  'approval.says.finalise': 'The merge can never be taken back any more',
  'approval.says.putPolicy': 'It says something else from then on, for everybody',
  'approval.says.putCategories':
    'Policies and restrictions that name a category mean what it is from then on',
  'approval.says.removePolicy': 'It holds no more from then on, for everybody',
  'fact.object_id': 'document',
  'fact.versions': 'versions',
  'fact.contributions': 'contributions',
  'fact.contributions_kept': 'contributions that stay',
  'fact.item_tags': 'tags',
  'fact.folder_items': 'entries of folders',
  'fact.compositions': 'documents',
  'fact.merged_ehrs': 'records merged into it',
  'fact.merge_id': 'merge',
  'fact.merge_date': 'merged',
  'needs.emergencies': 'Emergency access in the last day: {count}',
  'needs.refused': '{count} refused {count|sign-in|sign-ins} in the last day',
  'needs.neverChecked': 'What is stored was never checked',
  'needs.oldCheck': 'What is stored was last checked {ago}',
  'verify.parts': 'What the check found',
  'verify.asJson': 'As JSON',
} as const;

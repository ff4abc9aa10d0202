/** Who has seen a record, as its patient reads it, in English. */
export const access = {
  'access.title': 'Who has seen and changed this record',
  'access.of': 'Record {ehrs}',
  'access.unrecorded': 'Who reads is not recorded by this server: below is who wrote.',
  'access.why': 'Why',
  'access.kind': 'What kind',
  'access.where': 'From where',
  'access.merged': 'of another record, into which this one was merged by mistake',
  'access.elsewhere': 'in another system',
  'access.cut': 'There are older ones, which are not here.',
  'access.kept': 'kept for {years} {years|year|years} at least',
  'access.none': 'Nobody has seen or changed it in this time',
  'access.withoutMe': 'Without what I did myself',
  'access.older': 'Show older ones',
} as const;

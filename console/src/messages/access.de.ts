import type { access as english } from './access.en.js';

/** Who has seen a record, in German. */
export const access: Readonly<Record<keyof typeof english, string>> = {
  'access.title': 'Wer diese Akte gesehen und geändert hat',
  'access.of': 'Akte {ehrs}',
  'access.unrecorded': 'Wer liest, hält dieser Server nicht fest: unten steht, wer schrieb.',
  'access.why': 'Warum',
  'access.kind': 'Welche Art',
  'access.where': 'Von wo',
  'access.merged': 'an einer anderen Akte, mit der diese irrtümlich zusammengeführt war',
  'access.elsewhere': 'in einem anderen System',
  'access.cut': 'Es gibt ältere, die hier nicht stehen.',
  'access.kept': 'mindestens {years} {years|Jahr|Jahre} aufgehoben',
  'access.none': 'In dieser Zeit hat sie niemand gesehen oder geändert',
  'access.withoutMe': 'Ohne was ich selbst tat',
  'access.older': 'Ältere zeigen',
};

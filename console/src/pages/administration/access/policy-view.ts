import type { View } from '../../../shell/address.js';

/** The view of access in Administration; its parts are those of `AccessTab`. */
export function accessView(view: string, more: Readonly<Record<string, string>> = {}): View {
  return { to: '/administration', search: { tab: 'access', view, ...more } };
}

/** The view of a policy; without id that of all. */
export function policyView(id?: string): View {
  return accessView('policies', id === undefined ? {} : { policy: id });
}

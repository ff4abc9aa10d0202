import { isIPv6 } from 'node:net';
import type { Context } from 'koa';

/** Who shares places and rates: the user of the token, else the client's address. */
export function requesterOf(ctx: Context): string {
  const { user, address } = ctx.state;
  return user === null ? networkOf(address) : JSON.stringify([user.issuer, user.subject]);
}

/** The address itself, or of version 6 the /64 network: one client has a whole one. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.replace(/%.*$/, '').split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0');
  const groups = [...before, ...zeros, ...after].slice(0, 4);
  return groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':');
}

/** How the connections of this process to the database are used, from what the driver tells of its pools. */
import type mongoose from 'mongoose';

/** Connections of this process to all members of the database; those that only watch its state are not counted. */
export interface PoolUse {
  /** Open connections. */
  readonly size: number;
  /** Those that an operation has now. */
  readonly checkedOut: number;
  /** Operations that wait for one. */
  readonly waiting: number;
}

let open = new Set<string>();
let checkedOut = new Set<string>();
let waiting = 0;

/** What the use is now; zeros before the first connection. */
export function poolUse(): PoolUse {
  return { size: open.size, checkedOut: checkedOut.size, waiting };
}

/** Watches the pools of a client from now on, instead of those of an earlier one. */
export function watchPool(client: mongoose.mongo.MongoClient): void {
  open = new Set();
  checkedOut = new Set();
  waiting = 0;
  const own = { open, checkedOut };
  client.on('connectionCreated', (event) => own.open.add(nameOf(event)));
  client.on('connectionClosed', (event) => {
    own.open.delete(nameOf(event));
    own.checkedOut.delete(nameOf(event));
  });
  client.on('connectionCheckOutStarted', () => (waiting += 1));
  client.on('connectionCheckOutFailed', () => (waiting -= 1));
  client.on('connectionCheckedOut', (event) => {
    waiting -= 1;
    // One that was made while the client connected, before anyone listened.
    own.open.add(nameOf(event));
    own.checkedOut.add(nameOf(event));
  });
  client.on('connectionCheckedIn', (event) => own.checkedOut.delete(nameOf(event)));
}

function nameOf({ address, connectionId }: { address: string; connectionId: number | '<monitor>' }): string {
  return `${address} ${connectionId}`;
}

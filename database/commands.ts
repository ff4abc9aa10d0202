import type mongoose from 'mongoose';
import { areCommandsWatched, publishCommandEnded, publishCommandStarted } from './events.js';

type Client = mongoose.mongo.MongoClient;

/** What the driver has to be told when it connects: it spares itself the work where nobody listens. */
export function monitorOptions(): { readonly monitorCommands?: true } {
  return areCommandsWatched() ? { monitorCommands: true } : {};
}

/** Publishes each command of a client: its name and the collection, nothing of what it asks or gets. */
export function publishCommands(client: Client): void {
  if (!areCommandsWatched()) return;
  client.on('commandStarted', ({ requestId: id, commandName, command, databaseName, address }) => {
    const named: unknown = commandName === 'getMore' ? command.collection : command[commandName];
    const collection = typeof named === 'string' ? named : null;
    publishCommandStarted({ id, command: commandName, database: databaseName, collection, address });
  });
  client.on('commandSucceeded', ({ requestId: id }) => {
    publishCommandEnded({ id, failure: null });
  });
  client.on('commandFailed', ({ requestId: id, failure }) => {
    publishCommandEnded({ id, failure: (failure as { codeName?: string }).codeName ?? failure.name });
  });
}

import type Router from '@koa/router';
import type { Settings } from '../base/settings.js';
import { systemRoutes } from '../routes/system.js';

/** Every resource of the standard API; paths are relative to its prefix. */
export function standardRouters(settings: Settings): Router[] {
  return [systemRoutes()];
}

import type Router from '@koa/router';
import type { Settings } from '../base/settings.js';
import { adl2Routes } from '../routes/adl2.js';
import { itemTagRoutes } from '../routes/item-tag.js';
import { storedQueryRoutes } from '../routes/stored-query.js';
import { systemRoutes } from '../routes/system.js';
import { templateRoutes } from '../routes/template.js';

/** Every resource of the standard API; paths are relative to its prefix. */
export function standardRouters(settings: Settings): Router[] {
  return [
    systemRoutes(),
    templateRoutes(settings),
    adl2Routes(),
    storedQueryRoutes(),
    itemTagRoutes(settings),
  ];
}

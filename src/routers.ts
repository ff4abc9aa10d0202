import type Router from '@koa/router';
import type { Settings } from '../base/settings.js';
import { adl2Routes } from '../routes/adl2.js';
import { compositionRoutes } from '../routes/composition.js';
import { contributionRoutes } from '../routes/contribution.js';
import { directoryRoutes } from '../routes/directory.js';
import { ehrStatusRoutes } from '../routes/ehr-status.js';
import { ehrRoutes } from '../routes/ehr.js';
import { itemTagRoutes } from '../routes/item-tag.js';
import { queryRoutes } from '../routes/query.js';
import { storedQueryRoutes } from '../routes/stored-query.js';
import { systemRoutes } from '../routes/system.js';
import { templateViewRoutes } from '../routes/template-view.js';
import { templateRoutes } from '../routes/template.js';
import { versionedObjectRoutes } from '../routes/versioned-object.js';

/** Every resource of the standard API; paths are relative to its prefix. */
export function standardRouters(settings: Settings): Router[] {
  return [
    systemRoutes(),
    ehrRoutes(settings),
    ehrStatusRoutes(settings),
    compositionRoutes(settings),
    versionedObjectRoutes(settings),
    directoryRoutes(settings),
    contributionRoutes(settings),
    templateRoutes(settings),
    templateViewRoutes(settings),
    adl2Routes(),
    storedQueryRoutes(),
    queryRoutes(settings),
    itemTagRoutes(settings),
  ];
}

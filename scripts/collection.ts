import { writeFileSync } from 'node:fs';
import { COLLECTION_FILE, collectionText } from './pages/collection.js';

/** `npm run collection`: writes the Postman collection anew. */
writeFileSync(new URL(`../${COLLECTION_FILE}`, import.meta.url), collectionText());

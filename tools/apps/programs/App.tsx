// In the place of the page that `npm create vite -- --template react-ts` makes.
import { useState } from 'react';
import { Cdr, CdrError } from '@everchart/client';
import {
  ehrbaseBloodPressureSimpleDeV0 as bloodPressure,
  Position,
} from './gen/ehrbase-blood-pressure-simple-de-v0';

const cdr = new Cdr({ url: 'http://127.0.0.1:8080' });

const POSITIONS = Position.options('de');

export default function App() {
  const [position, setPosition] = useState(POSITIONS[0]?.code ?? Position.sitting.code);
  const [said, setSaid] = useState('');
  async function save(): Promise<void> {
    try {
      const ehr = await cdr.ehr.create();
      const { uid } = await ehr.compositions.commit(
        bloodPressure({ territory: 'GB', composer_name: 'Ada Moe' })
          .systolic({ magnitude: 120 })
          .diastolic({ magnitude: 80 })
          .position({ code: position })
          .build(),
      );
      setSaid(uid);
    } catch (error) {
      setSaid(error instanceof CdrError ? error.message : String(error));
    }
  }
  return (
    <>
      <select
        value={position}
        onChange={({ target }) => setPosition(POSITIONS[target.selectedIndex]?.code ?? position)}
      >
        {POSITIONS.map(({ code, label }) => (
          <option key={code} value={code}>
            {label}
          </option>
        ))}
      </select>
      <button onClick={() => void save()}>Save</button>
      <output>{said}</output>
    </>
  );
}

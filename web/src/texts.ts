// SPDX-License-Identifier: MIT
// The page's own words in English (009), German (007) and Russian (019). The English text is the key:
//     t("{} of {} rows", 3, 10)
// A new text needs a line in the table below, in the part of its file; {} is replaced by the next value.
// Names and explanations of objects come from the server in the same language.

export type Language = "009" | "007" | "019";
export const LANGUAGES: [Language, string, string][] = [["009", "English", "en"], ["007", "Deutsch", "de"], ["019", "Русский", "ru"]];

const TEXTS = {
    /* page.tsx */
    "Overview": ["Überblick", "Обзор"],
    "Processes": ["Prozesse", "Процессы"],
    "Chart": ["Diagramm", "График"],
    "Table": ["Tabelle", "Таблица"],
    "Views": ["Ansichten", "Виды"],
    "Language": ["Sprache", "Язык"],
    "Filter rows": ["Zeilen filtern", "Отбор строк"],
    "starting": ["beginnt", "начинается"],
    "live": ["läuft", "идёт"],
    "Machine": ["Rechner", "Машина"],
    "the machine does not answer, trying again": ["der Rechner antwortet nicht, neuer Versuch folgt", "машина не отвечает, будет новая попытка"],
    "no connection, trying again": ["keine Verbindung, neuer Versuch folgt", "нет связи, будет новая попытка"],
    "a provider does not answer": ["ein Anbieter antwortet nicht", "поставщик не отвечает"],
    "complete": ["vollständig", "прочитано"],
    "the server has ended the connection": ["der Server hat die Verbindung beendet", "сервер закрыл соединение"],
    "This page needs a link with a secret, which works once.": ["Diese Seite braucht einen Link mit einem Geheimnis, der einmal gilt.", "Этой странице нужна ссылка с секретом, она действует один раз."],
    "Get one on the machine by {}.": ["Auf dem Rechner gibt ihn {}.", "На машине её даёт {}."],
    "Choose counters in the tree: open an object, then a counter, then an instance.": ["Wählen Sie Zähler im Baum: öffnen Sie ein Objekt, dann einen Zähler, dann eine Instanz.", "Выберите счётчики в дереве: откройте объект, затем счётчик, затем экземпляр."],
    "Choose an object in the tree by its button ▦.": ["Wählen Sie im Baum ein Objekt durch seinen Knopf ▦.", "Выберите объект в дереве его кнопкой ▦."],

    /* tree.tsx */
    "Objects and counters": ["Objekte und Zähler", "Объекты и счётчики"],
    "Search: cpu, disk, page faults…": ["Suche: cpu, disk, Seitenfehler…", "Поиск: cpu, disk, ошибки страниц…"],
    "Search objects and counters": ["Objekte und Zähler suchen", "Поиск объектов и счётчиков"],
    "reading…": ["wird gelesen…", "чтение…"],
    "{} instances": ["{} Instanzen", "экземпляров: {}"],
    "all (*)": ["alle (*)", "все (*)"],
    "{} more: type a part of the name": ["{} weitere: geben Sie einen Teil des Namens ein", "ещё {}: введите часть имени"],
    "There is no explanation.": ["Es gibt keine Erklärung.", "Объяснения нет."],
    "What a counter means is shown here.": ["Hier steht, was ein Zähler bedeutet.", "Здесь объясняется, что значит счётчик."],
    "Show as a table": ["Als Tabelle zeigen", "Показать таблицей"],

    /* chart.tsx */
    "Chart; the table below has its numbers": ["Diagramm; seine Zahlen stehen in der Tabelle darunter", "График; его числа в таблице ниже"],
    "Counter": ["Zähler", "Счётчик"],
    "Last": ["Letzter", "Последнее"],
    "Average": ["Mittel", "Среднее"],
    "Minimum": ["Minimum", "Минимум"],
    "Maximum": ["Maximum", "Максимум"],
    "Duration": ["Dauer", "Время"],
    "Type": ["Typ", "Тип"],
    "Show {}": ["{} zeigen", "Показать {}"],
    "Remove {}": ["{} entfernen", "Убрать {}"],
    "(ended)": ["(beendet)", "(завершено)"],

    /* history and time axis */

    /* captures, export, comparison, sets, import */

    /* the program, its package and what is missing */
    "Counters of other users' processes are missing, such as the bytes that they read and write. This command adds them:":
        ["Zähler der Prozesse anderer Benutzer fehlen, etwa die gelesenen und geschriebenen Bytes. Dieser Befehl ergänzt sie:", "Нет счётчиков процессов других пользователей, например прочитанных и записанных байт. Их добавит команда:"],
    "Then log in again, and start the server again.": ["Melden Sie sich danach neu an, und starten Sie den Server neu.", "После этого войдите в систему заново и запустите сервер снова."],
    "Do not show this again": ["Nicht mehr zeigen", "Больше не показывать"],

    /* tables.tsx */
    "{} – the first {} of {} rows": ["{} – die ersten {} von {} Zeilen", "{} – первые {} строк из {}"],
    "Instance": ["Instanz", "Экземпляр"],
    "No values yet.": ["Noch keine Werte.", "Значений пока нет."],
    "Name": ["Name", "Имя"],
    "Busiest processes": ["Prozesse mit der größten Last", "Самые занятые процессы"],
    "Show all": ["Alle zeigen", "Показать все"],

    /* overview.tsx */
    "Processors": ["Prozessoren", "Процессоры"],
    "user {} · system {} · waiting {} · stolen {}": ["Benutzer {} · System {} · Warten {} · entzogen {}", "польз. {} · система {} · ожид. {} · отнято {}"],
    "load {} {} {} · {} processes · {} threads · up {}": ["Last {} {} {} · {} Prozesse · {} Threads · läuft {}", "нагрузка {} {} {} · процессов {} · потоков {} · работает {}"],
    "Memory": ["Arbeitsspeicher", "Память"],
    "used": ["belegt", "занято"],
    "swap": ["Swap", "своп"],
    "available {} · caches {} · committed {}": ["verfügbar {} · Caches {} · zugesichert {}", "доступно {} · кэши {} · выделено {}"],
    "Pressure": ["Engpässe", "Нехватка"],
    "Disks": ["Datenträger", "Диски"],
    "{} busy": ["{} belegt", "{} занят"],
    "read {} · written {}": ["gelesen {} · geschrieben {}", "прочитано {} · записано {}"],
    "{} full": ["{} voll", "{} заполнен"],
    "Network": ["Netzwerk", "Сеть"],
    "{}: received {} · sent {}": ["{}: empfangen {} · gesendet {}", "{}: получено {} · отправлено {}"],
} as const;

export type Text = keyof typeof TEXTS;
let language: Language = "009";

/** The language that the browser prefers, if the page has it. */
export function preferred(): Language {
    for (const name of navigator.languages) {
        const found = LANGUAGES.find(([, , short]) => name.toLowerCase().split("-")[0] === short);
        if (found) return found[0];
    }
    return "009";
}

export function setLanguage(wanted: Language): void {
    language = wanted;
    document.documentElement.lang = LANGUAGES.find(([key]) => key === wanted)![2];
}

export const getLanguage = (): Language => language;

/** The text in the page's language. */
export function t(text: Text, ...values: (string | number)[]): string {
    let at = 0;
    return (language === "009" ? text : TEXTS[text][language === "007" ? 0 : 1]).replace(/\{\}/g, () => String(values[at++]));
}

/** The same for sentences of the server, of which the table may not have every one. */
export function told(sentence: string): string {
    return sentence in TEXTS ? t(sentence as Text) : sentence;
}

/** Digits as they are written in the language. */
export function decimal(text: string): string {
    return language === "009" ? text : text.replace(".", ",");
}

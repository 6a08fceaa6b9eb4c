// SPDX-License-Identifier: MIT
// The page's own words in English (009), German (007) and Russian (019). The English text is the key:
//     t("{} of {} rows", 3, 10)
// A new text needs a line in the table below, in the part of its file; {} is replaced by the next value.
// Names and explanations of objects come from the server in the same language.

export type Language = "009" | "007" | "019";
export const LANGUAGES: [Language, string, string][] = [["009", "English", "en"], ["007", "Deutsch", "de"], ["019", "Русский", "ru"]];

/** What the server says of captures; {} stands for a number, a name or another of these texts. */
const CAPTURES = {
    "not shown: {}: {}, the first is {}": ["nicht gezeigt: {}: {}, zuerst {}", "не показано: {}: {}, первый случай – {}"],
    "objects that have no name in the capture's name tables": ["Objekte ohne Namen in den Namenstabellen der Aufzeichnung", "объекты без имени в таблицах имён записи"],
    "counters that have no name in the capture's name tables": ["Zähler ohne Namen in den Namenstabellen der Aufzeichnung", "счётчики без имени в таблицах имён записи"],
    "counters whose type has no numeric value": ["Zähler, deren Typ keinen Zahlenwert hat", "счётчики, тип которых не имеет числового значения"],
    "counters whose type has no formula": ["Zähler, deren Typ keine Formel hat", "счётчики, тип которых не имеет формулы"],
    "catalogue entries without object or counter": ["Katalogeinträge ohne Objekt oder Zähler", "записи каталога без объекта или счётчика"],
    "counters that the catalogue names a second time": ["Zähler, die der Katalog ein zweites Mal nennt", "счётчики, которые каталог называет второй раз"],
    "counters whose instance has * or ? in its name": ["Zähler, deren Instanz * oder ? im Namen hat", "счётчики, в имени экземпляра которых есть * или ?"],
    "records that are incomplete or of an unknown kind": ["Datensätze, die unvollständig oder von unbekannter Art sind", "неполные записи или записи неизвестного вида"],
    "buffers that are missing in the file": ["Puffer, die in der Datei fehlen", "буферы, которых нет в файле"],
    "samples with an impossible time": ["Messungen mit unmöglicher Zeit", "замеры с невозможным временем"],
    "samples that are earlier than the one before them": ["Messungen, die früher sind als die vor ihnen", "замеры, которые раньше предыдущего"],
    "texts without a number in the tables of names": ["Texte ohne Nummer in den Namenstabellen", "тексты без номера в таблицах имён"],
    "values that are damaged or of an unknown kind": ["Werte, die beschädigt oder von unbekannter Art sind", "повреждённые значения или значения неизвестного вида"],
    "values beyond the last column": ["Werte hinter der letzten Spalte", "значения за последним столбцом"],
    "blocks that are damaged": ["Blöcke, die beschädigt sind", "повреждённые блоки"],
    "values that are neither a number nor blank": ["Werte, die weder Zahl noch leer sind", "значения, которые не число и не пустые"],
    "comments of samples": ["Kommentare zu Messungen", "комментарии к замерам"],
    "files that cannot be read": ["Dateien, die nicht gelesen werden können", "файлы, которые не удаётся прочитать"],
    "at offset {}, in a damaged frame": ["an Position {}, in einem beschädigten Frame", "по смещению {}, в повреждённом кадре"],
    "before offset {}": ["vor Position {}", "перед смещением {}"],
    "after the last one, at offset {}": ["nach dem letzten, an Position {}", "после последнего, по смещению {}"],
    "the one at offset {}, after the used bytes of its buffer": ["der an Position {}, nach den benutzten Bytes seines Puffers", "по смещению {}, после занятых байтов буфера"],
    "the one at offset {}, of which {} of {} parts are there": ["der an Position {}, von dem {} von {} Teilen da sind", "по смещению {}, есть {} из {} частей"],
    "the one at offset {}, with an unknown GUID": ["der an Position {}, mit unbekannter GUID", "по смещению {}, с неизвестным GUID"],
    "a sample of kind {} at offset {}": ["eine Messung der Art {} an Position {}", "замер вида {} по смещению {}"],
    "kind {} at offset {}": ["Art {} an Position {}", "вид {} по смещению {}"],
    "missing in line {}": ["fehlend in Zeile {}", "нет в строке {}"],
    "in line {}": ["in Zeile {}", "в строке {}"],
    "in the sample at offset {}": ["in der Messung an Position {}", "в замере по смещению {}"],
    "{}, names of instances": ["{}, Namen von Instanzen", "{}, имена экземпляров"],
    "base: {}": ["base: {}", "base: {}"],
    "nothing was recorded by this user's set: start it with `logman start base`": ["der Satz dieses Benutzers hat nichts aufgezeichnet: `logman start base` beginnt damit", "набор этого пользователя ничего не записал: запись начнёт `logman start base`"],
    "none of its captures can be read": ["keine seiner Aufzeichnungen kann gelesen werden", "ни одну из его записей не удаётся прочитать"],
    "the captures in {} cannot be read: access denied; only root and the members of the group openperflib may read the system's captures": ["die Aufzeichnungen in {} können nicht gelesen werden: Zugriff verweigert; nur root und Mitglieder der Gruppe openperflib dürfen die Aufzeichnungen des Systems lesen", "записи в {} не прочитать: доступ запрещён; записи системы могут читать только root и члены группы openperflib"],
    "the captures in {} cannot be read: access denied": ["die Aufzeichnungen in {} können nicht gelesen werden: Zugriff verweigert", "записи в {} не прочитать: доступ запрещён"],
    "{} at offset {}": ["{} an Position {}", "{} по смещению {}"],
    "{} in line {}": ["{} in Zeile {}", "{} в строке {}"],
    "{}, kind {}": ["{}, Art {}", "{}, вид {}"],
} as const;

const TEXTS = {
    /* page.tsx */
    "Overview": ["Überblick", "Обзор"],
    "Processes": ["Prozesse", "Процессы"],
    "Chart": ["Diagramm", "График"],
    "Table": ["Tabelle", "Таблица"],
    "Views": ["Ansichten", "Виды"],
    "Language": ["Sprache", "Язык"],
    "Skip to the view": ["Zur Ansicht springen", "К содержанию"],
    "Filter rows": ["Zeilen filtern", "Отбор строк"],
    "starting": ["beginnt", "начинается"],
    "live": ["läuft", "идёт"],
    "Machine": ["Rechner", "Машина"],
    "the machine does not answer, trying again": ["der Rechner antwortet nicht, neuer Versuch folgt", "машина не отвечает, будет новая попытка"],
    "no connection, trying again": ["keine Verbindung, neuer Versuch folgt", "нет связи, будет новая попытка"],
    "a provider does not answer": ["ein Anbieter antwortet nicht", "поставщик не отвечает"],
    "complete": ["vollständig", "прочитано"],
    "the server does not answer": ["der Server antwortet nicht", "сервер не отвечает"],
    "the server has ended the connection": ["der Server hat die Verbindung beendet", "сервер закрыл соединение"],
    "This page needs a link with a secret, which works once.": ["Diese Seite braucht einen Link mit einem Geheimnis, der einmal gilt.", "Этой странице нужна ссылка с секретом, она действует один раз."],
    "Get a link on the machine with {}.": ["Auf dem Rechner gibt ihn {}.", "На машине её даёт {}."],
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
    "Nothing has this in its name or explanation.": ["Nichts hat dies in Namen oder Erklärung.", "Ни в названиях, ни в объяснениях этого нет."],
    "costly": ["aufwendig", "затратный"],
    "Costly: it takes longer to read than other objects, and is read only while something of it is shown.": ["Aufwendig: es zu lesen dauert länger als bei anderen Objekten, und gelesen wird es nur, solange etwas davon gezeigt wird.", "Затратный: чтение дольше, чем у других объектов, и идёт, только пока что-то из него показано."],
    "There is no explanation.": ["Es gibt keine Erklärung.", "Объяснения нет."],
    "Instances have {} different names. Of several with one name, the name stands for the first, and “name#1” for the second.": ["Die Instanzen haben {} verschiedene Namen. Haben mehrere denselben, steht der Name für die erste, „Name#1“ für die zweite.", "Разных имён у экземпляров: {}. Если имя общее, оно означает первый из них, «имя#1» – второй."],
    "What a counter means is shown here.": ["Hier steht, was ein Zähler bedeutet.", "Здесь объясняется, что значит счётчик."],
    "Show as a table": ["Als Tabelle zeigen", "Показать таблицей"],

    /* chart.tsx */
    "Chart; the table below has its numbers": ["Diagramm; seine Zahlen stehen in der Tabelle darunter", "График; его числа в таблице ниже"],
    "Line": ["Linie", "Линии"],
    "Bars": ["Balken", "Столбцы"],
    "Heat map": ["Heatmap", "Тепловая карта"],
    "Chart type": ["Diagrammtyp", "Вид графика"],
    "an axis for each unit": ["eine Achse je Einheit", "ось для каждой единицы"],
    "one axis, scaled by powers of ten": ["eine Achse, mit Zehnerpotenzen skaliert", "одна ось, масштаб степенями десяти"],
    "the first {} of {} lines are drawn; the heat map shows all": ["die ersten {} von {} Linien sind gezeichnet; die Heatmap zeigt alle", "показаны первые линии: {} из {}; тепловая карта показывает все"],
    "Legend": ["Legende", "Легенда"],
    "Shown": ["Gezeigt", "Показано"],
    "Remove": ["Entfernen", "Убрать"],
    "Scale": ["Faktor", "Масштаб"],
    "Highlight {}": ["{} hervorheben", "Выделить {}"],
    "Newest values": ["Neueste Werte", "Последние значения"],
    "Bar": ["Balken", "Столбец"],
    "Values": ["Werte", "Значения"],
    "Time": ["Zeit", "Время"],
    "the first {} of {} counters": ["die ersten {} von {} Zählern", "первые {} счётчиков из {}"],
    "Rows": ["Zeilen", "Строки"],
    "by average": ["nach Mittel", "по среднему"],
    "by the last value": ["nach letztem Wert", "по последнему"],
    "by maximum": ["nach Maximum", "по максимуму"],
    "by name": ["nach Namen", "по имени"],
    "Heat map of {}: read the values with the arrow keys": ["Heatmap von {}: die Pfeiltasten nennen die Werte", "Тепловая карта {}: стрелки называют значения"],
    "Point at a place, or use the arrow keys, to read its value.": ["Zeigen Sie auf eine Stelle, oder nehmen Sie die Pfeiltasten, um den Wert zu lesen.", "Укажите место или используйте стрелки, чтобы прочесть значение."],
    "no value": ["kein Wert", "нет значения"],
    "no samples": ["keine Messungen", "замеров нет"],
    "Counter": ["Zähler", "Счётчик"],
    "Last": ["Letzter", "Последнее"],
    "Average": ["Mittel", "Среднее"],
    "Minimum": ["Minimum", "Минимум"],
    "Maximum": ["Maximum", "Максимум"],
    "Duration": ["Dauer", "Время"],
    "Type": ["Typ", "Тип"],
    "Show {}": ["{} zeigen", "Показать {}"],
    "Remove {}": ["{} entfernen", "Убрать {}"],
    "no values in this range of time": ["keine Werte in diesem Zeitraum", "в этом промежутке нет значений"],
    "(ended)": ["(beendet)", "(завершено)"],

    /* past.ts, axis.tsx: history and time axis */
    "Range of time": ["Zeitraum", "Промежуток времени"],
    "5 minutes": ["5 Minuten", "5 минут"],
    "Hour": ["Stunde", "Час"],
    "Day": ["Tag", "День"],
    "Week": ["Woche", "Неделя"],
    "14 days": ["14 Tage", "14 дней"],
    "Earlier": ["Früher", "Раньше"],
    "Later": ["Später", "Позже"],
    "Closer": ["Näher", "Ближе"],
    "Farther": ["Weiter weg", "Дальше"],
    "from": ["von", "с"],
    "to": ["bis", "по"],
    "Back to live": ["Zurück zur Gegenwart", "К текущему времени"],
    "logged": ["gemeldet", "записано"],
    "recording stopped": ["die Aufzeichnung hielt an", "запись остановилась"],
    "recording continued": ["die Aufzeichnung lief weiter", "запись продолжилась"],
    "no samples until {}": ["keine Messungen bis {}", "замеров нет до {}"],
    "begins: {}": ["beginnt: {}", "начинается: {}"],
    "ends: {}": ["endet: {}", "завершается: {}"],
    "before: recorded by the set “base”; after: from the memory of the server": ["davor: vom Satz „base“ aufgezeichnet; danach: aus dem Speicher des Servers", "раньше: записано набором «base»; позже: из памяти сервера"],
    "Marks on the time axis: {}": ["Marken auf der Zeitachse: {}", "отметки на оси времени: {}"],
    "Only the first 256 instances of a counter are shown.": ["Nur die ersten 256 Instanzen eines Zählers sind gezeigt.", "Показаны только первые 256 экземпляров счётчика."],
    "The set “base” shown here is that of the server's user, in {}; the system's set of this name is not read.": ["Der hier gezeigte Satz „base“ gehört dem Benutzer des Servers, in {}; der Satz dieses Namens des Systems wird nicht gelesen.", "Показан набор «base» пользователя сервера из {}; системный набор с этим именем не читается."],
    "nothing was recorded: start it with `logman start base`": ["nichts wurde aufgezeichnet: `logman start base` beginnt damit", "ничего не записано: запись начнёт `logman start base`"],
    "No events: {}": ["Keine Ereignisse: {}", "Нет событий: {}"],

    /* captures, export, comparison, sets, import */
    "Comparison": ["Vergleich", "Сравнение"],
    "{} is larger than 256 MiB. Cut a part out of it by relog -b and -e.": ["{} ist größer als 256 MiB. Schneiden Sie mit relog -b und -e einen Teil heraus.", "{} больше 256 МиБ. Вырежьте часть командой relog -b и -e."],
    "The capture does not have this counter.": ["Die Aufzeichnung hat diesen Zähler nicht.", "В записи нет этого счётчика."],
    "{} cannot be read.": ["{} kann nicht gelesen werden.", "{} не удаётся прочитать."],
    "{} contains no list of counters.": ["{} enthält keine Liste von Zählern.", "В {} нет списка счётчиков."],
    "{} is being read…": ["{} wird gelesen…", "{}: чтение…"],
    "Whole capture": ["Ganze Aufzeichnung", "Вся запись"],
    "Source": ["Quelle", "Источник"],
    "Compare with": ["Vergleichen mit", "Сравнить с"],
    "compare with…": ["vergleichen mit…", "сравнить с…"],
    "Open…": ["Öffnen…", "Открыть…"],
    "Open captures (.blg, .csv, .tsv, .zst) or counter lists of perfmon (.htm, .xml); they can also be dropped on the page": ["Aufzeichnungen (.blg, .csv, .tsv, .zst) oder Zählerlisten von perfmon (.htm, .xml) öffnen; man kann sie auch auf die Seite ziehen", "Открыть записи (.blg, .csv, .tsv, .zst) или списки счётчиков perfmon (.htm, .xml); их можно и перетащить на страницу"],
    "{} samples, {} to {}": ["{} Messungen, {} bis {}", "замеров: {}, с {} по {}"],
    "Not everything could be read": ["Nicht alles war lesbar", "Прочитано не всё"],
    "Counters of the list that this machine does not have: {}": ["Zähler der Liste, die dieser Rechner nicht hat: {}", "Счётчики списка, которых нет на этой машине: {}"],
    "from 0": ["von 0", "с нуля"],
    "Averages of both captures, the largest change first": ["Mittelwerte beider Aufzeichnungen, die größte Änderung zuerst", "Средние обеих записей, сначала наибольшее изменение"],
    " – the first {} of {} rows": [" – die ersten {} von {} Zeilen", " – первые {} строк из {}"],
    "Difference": ["Unterschied", "Разница"],
    "Change": ["Änderung", "Изменение"],
    "Save what is shown:": ["Gezeigtes speichern:", "Сохранить показанное:"],
    "A picture is made of lines and of heat maps.": ["Ein Bild gibt es von Linien und Heatmaps.", "Картинка бывает из линий и тепловых карт."],
    "The .blg has the raw values that the server keeps, from when the chart was first opened on: at most an hour of 60 lines. To keep more, record a set.": ["Die .blg hat die Rohwerte, die der Server behält, ab dem ersten Öffnen des Diagramms: höchstens eine Stunde von 60 Linien. Für mehr zeichnen Sie einen Satz auf.", "В .blg исходные значения, которые хранит сервер с первого открытия графика: не больше часа для 60 линий. Чтобы хранить больше, запишите набор."],
    "The server keeps no raw values yet: open the chart first.": ["Der Server hat noch keine Rohwerte: öffnen Sie zuerst das Diagramm.", "Исходных значений на сервере ещё нет: сначала откройте график."],
    "This writes the raw values of the set “base” from this range of time. Run it on the machine.": ["Das schreibt die Rohwerte des Satzes „base“ aus diesem Zeitraum. Führen Sie es auf dem Rechner aus.", "Это записывает исходные значения набора «base» за этот промежуток. Выполните на машине."],
    "Set of logman…": ["Satz für logman…", "Набор logman…"],
    "These commands create and start a set that records these counters. Run them on the machine; the page itself starts nothing there.": ["Diese Befehle legen einen Satz an, der diese Zähler aufzeichnet, und starten ihn. Führen Sie sie auf dem Rechner aus; die Seite selbst startet dort nichts.", "Эти команды создают и запускают набор, который записывает эти счётчики. Выполните их на машине: сама страница там ничего не запускает."],
    "Seconds between samples": ["Sekunden zwischen Messungen", "Секунд между замерами"],
    "Copy": ["Kopieren", "Копировать"],
    "Save as XML for logman import": ["Als XML für logman import speichern", "Сохранить XML для logman import"],
    "The server does not have this capture any more: open it again.": ["Der Server hat diese Aufzeichnung nicht mehr: öffnen Sie sie noch einmal.", "На сервере этой записи больше нет: откройте её снова."],

    /* the program, its package and what is missing */
    "Counters of other users' processes are missing, such as the bytes that they read and write. This command adds them:":
        ["Zähler der Prozesse anderer Benutzer fehlen, etwa die gelesenen und geschriebenen Bytes. Dieser Befehl ergänzt sie:", "Нет счётчиков процессов других пользователей, например прочитанных и записанных байт. Их добавит команда:"],
    "Then log in again, and start the server again.": ["Melden Sie sich danach neu an, und starten Sie den Server neu.", "После этого войдите в систему заново и запустите сервер снова."],
    "Do not show this again": ["Nicht mehr zeigen", "Больше не показывать"],

    /* the server's sentences (tools/serve) */
    "This host name is not allowed. For a reverse proxy, start perfmon serve with --host NAME.": ["Dieser Rechnername ist nicht erlaubt. Für einen Reverse-Proxy starten Sie perfmon serve mit --host NAME.", "Это имя узла не разрешено. Для обратного прокси запустите perfmon serve с --host ИМЯ."],
    "Requests from pages of other sites are refused.": ["Anfragen von Seiten anderer Websites werden abgelehnt.", "Запросы со страниц других сайтов отклоняются."],
    "This link was used already or is too old: run \"perfmon open\" for a new one.": ["Dieser Link wurde schon benutzt oder ist zu alt: „perfmon open“ gibt einen neuen.", "Эта ссылка уже использована или устарела: «perfmon open» даст новую."],
    "There is no valid session: run \"perfmon open\" for a new link.": ["Es gibt keine gültige Sitzung: „perfmon open“ gibt einen neuen Link.", "Нет действующего сеанса: «perfmon open» даст новую ссылку."],
    "There are too many sessions, or this link was just used.": ["Es gibt zu viele Sitzungen, oder dieser Link wurde gerade benutzt.", "Сеансов слишком много, или эта ссылка только что использована."],
    "There is no such object, or it has not been read yet.": ["Dieses Objekt gibt es nicht, oder es wurde noch nicht gelesen.", "Такого объекта нет, или он ещё не прочитан."],
    "Recorded values exist for the server's own machine only, in the set \"base\".": ["Aufgezeichnete Werte gibt es nur für den Rechner des Servers, im Satz „base“.", "Записанные значения есть только для машины сервера, в наборе «base»."],
    "There is no place for another capture: at most 16 are kept, each until it was not used for an hour.": ["Für eine weitere Aufzeichnung ist kein Platz: höchstens 16 werden behalten, jede, bis sie eine Stunde nicht benutzt wurde.", "Для ещё одной записи нет места: хранится не больше 16, каждая, пока ею пользовались в последний час."],
    "Too many captures are being read at once.": ["Zu viele Aufzeichnungen werden zugleich gelesen.", "Одновременно читается слишком много записей."],
    "A path names a machine: machine=NAME in the address chooses one of those that the server was started with.": ["Ein Pfad nennt einen Rechner: machine=NAME in der Adresse wählt einen von denen, mit denen der Server gestartet wurde.", "Путь называет машину: machine=ИМЯ в адресе выбирает одну из тех, с которыми запущен сервер."],
    "This server does not show that machine.": ["Dieser Server zeigt jenen Rechner nicht.", "Этот сервер не показывает ту машину."],
    "Reading this capture takes longer than 30 seconds, so it was ended.": ["Diese Aufzeichnung zu lesen dauert länger als 30 Sekunden und wurde daher abgebrochen.", "Чтение этой записи длится дольше 30 секунд, поэтому оно прервано."],
    "Reading this capture needs more time or memory than is allowed, or damage in the capture ended the reading process; \"relog FILE\" may say more.": ["Diese Aufzeichnung zu lesen braucht mehr Zeit oder Speicher, als erlaubt ist, oder ein Schaden in ihr hat den lesenden Prozess beendet; „relog DATEI“ sagt vielleicht mehr.", "Чтение этой записи требует больше времени или памяти, чем разрешено, или повреждение в ней завершило читающий процесс; «relog ФАЙЛ» может сказать больше."],
    "This capture cannot be read, and no reason is known: \"relog FILE\" may say more.": ["Diese Aufzeichnung ist nicht lesbar, ein Grund ist nicht bekannt: „relog DATEI“ sagt vielleicht mehr.", "Эту запись нельзя прочесть, причина неизвестна: «relog ФАЙЛ» может сказать больше."],
    "You have a quarter of the server's connections: close some tabs.": ["Sie haben ein Viertel der Verbindungen des Servers: schließen Sie einige Tabs.", "У вас четверть соединений сервера: закройте несколько вкладок."],
    "Four captures are being sent: wait for one.": ["Vier Aufzeichnungen werden gerade gesendet: warten Sie auf eine davon.", "Передаются четыре записи: дождитесь конца одной."],
    "A capture may have 256 MiB at most.": ["Eine Aufzeichnung darf höchstens 256 MiB haben.", "Запись может быть не больше 256 МиБ."],
    "Too many tables: at most 64 objects and selections of instances for a viewer, and 256 for all.": ["Zu viele Tabellen: höchstens 64 Objekte und Auswahlen von Instanzen je Betrachter, und 256 für alle.", "Слишком много таблиц: не больше 64 объектов и выборок экземпляров на зрителя и 256 на всех."],
    "There is no memory for another viewer.": ["Für einen weiteren Betrachter fehlt der Speicher.", "Для ещё одного зрителя нет памяти."],
    "The list of counters is empty, or has more than 64.": ["Die Liste der Zähler ist leer oder hat mehr als 64.", "Список счётчиков пуст или в нём больше 64."],
    "Too many requests for recorded values are waiting; try again later.": ["Zu viele Anfragen nach aufgezeichneten Werten warten; versuchen Sie es später noch einmal.", "Запросов записанных значений слишком много; повторите позже."],

    /* machines.tsx */
    "Machines": ["Rechner", "Машины"],
    "available": ["verfügbar", "доступно"],

    /* keys.tsx */
    "Keys": ["Tasten", "Клавиши"],
    "this list of keys": ["diese Liste der Tasten", "этот список клавиш"],
    "move through the page; in tabs and heat maps use the arrow keys": ["gehen durch die Seite; in Reitern und Heatmaps bewegen die Pfeile", "ходят по странице; на вкладках и тепловых картах двигают стрелки"],
    "single keys are on": ["einzelne Tasten sind an", "одиночные клавиши включены"],
    "Close": ["Schließen", "Закрыть"],

    /* why.tsx */
    "the machine does not answer": ["der Rechner antwortet nicht", "машина не отвечает"],
    "there is no such instance now": ["diese Instanz gibt es jetzt nicht", "такого экземпляра сейчас нет"],
    "the counter's clock or base ran backwards": ["Uhr oder Basis des Zählers liefen zurück", "часы или база счётчика пошли назад"],
    "the frequency of the counter's clock is 0": ["die Frequenz der Uhr des Zählers ist 0", "частота часов счётчика равна 0"],
    "the counter ran backwards, as after a restart": ["der Zähler lief zurück, wie nach einem Neustart", "счётчик пошёл назад, как после перезапуска"],
    "there is no such object now: its provider is not installed or does not answer": ["dieses Objekt gibt es jetzt nicht: sein Anbieter ist nicht installiert oder antwortet nicht", "такого объекта сейчас нет: поставщик не установлен или не отвечает"],
    "the object has no such counter": ["das Objekt hat keinen solchen Zähler", "у объекта нет такого счётчика"],
    "no value yet, or not permitted to this user": ["noch kein Wert, oder diesem Benutzer nicht erlaubt", "значения ещё нет, или этому пользователю нельзя его читать"],
    "the value needs two samples": ["der Wert braucht zwei Messungen", "для значения нужны два замера"],
    "no value (status {})": ["kein Wert (Status {})", "нет значения (код {})"],
    "{} values are missing: {}": ["{} Werte fehlen: {}", "нет значений: {}; причина: {}"],

    /* processes.tsx */
    "PID": ["PID", "PID"],
    "CPU": ["CPU", "ЦП"],
    "CPU time": ["CPU-Zeit", "Время ЦП"],
    "Read": ["Gelesen", "Прочитано"],
    "Written": ["Geschrieben", "Записано"],
    "Threads": ["Threads", "Потоки"],
    "Age": ["Alter", "Возраст"],
    "Memory limit": ["RAM-Grenze", "Предел памяти"],
    "CPU limit": ["CPU-Grenze", "Предел ЦП"],
    "Throttled": ["Gedrosselt", "Сдержан"],
    "Waits for CPU": ["Wartet auf CPU", "Ждёт ЦП"],
    "Waits for memory": ["Wartet auf RAM", "Ждёт память"],
    "Waits for disks": ["Wartet auf Datenträger", "Ждёт диски"],
    "User": ["Benutzer", "Пользователь"],
    "State": ["Zustand", "Состояние"],
    "Unit": ["Unit", "Юнит"],
    "Command": ["Befehl", "Команда"],
    "single": ["einzeln", "по одному"],
    "by program": ["nach Programm", "по программе"],
    "by user": ["nach Benutzer", "по пользователю"],
    "by unit": ["nach Unit", "по юниту"],
    "by container": ["nach Container", "по контейнеру"],
    "by control group": ["nach Kontrollgruppe", "по контрольной группе"],
    "Tree of parents": ["Baum der Eltern", "Дерево родителей"],
    "{} lines": ["{} Zeilen", "строк: {}"],
    "the first {} are shown": ["die ersten {} sind gezeigt", "показаны первые {}"],
    "Processes below {}": ["Prozesse unter {}", "Процессы ниже {}"],
    "(host {})": ["(Rechner {})", "(машина {})"],
    "(none)": ["(keine)", "(нет)"],
    "(not known)": ["(unbekannt)", "(неизвестно)"],
    "Processor time of processes that ended since the sample before": ["Prozessorzeit von Prozessen, die seit der vorigen Messung geendet haben", "Время процессов, завершившихся с прошлого замера"],
    "(not listed)": ["(nicht aufgeführt)", "(не показано)"],
    "–: this user may not read it, or the value needs two samples.": ["–: dieser Benutzer darf es nicht lesen, oder der Wert braucht zwei Messungen.", "–: этому пользователю нельзя это читать, или для значения нужны два замера."],
    "All processes": ["Alle Prozesse", "Все процессы"],
    "Threads and open files": ["Threads und offene Dateien", "Потоки и открытые файлы"],

    /* tables.tsx */
    "{} – the first {} of {} rows": ["{} – die ersten {} von {} Zeilen", "{} – первые {} строк из {}"],
    "Object": ["Objekt", "Объект"],
    "Instance": ["Instanz", "Экземпляр"],
    "No values yet.": ["Noch keine Werte.", "Значений пока нет."],
    "Name": ["Name", "Имя"],
    "Busiest processes": ["Prozesse mit der größten Last", "Самые занятые процессы"],

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
    ...CAPTURES,
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
    const short = LANGUAGES.find(([key]) => key === wanted)![2];
    if (document.documentElement.lang !== short) document.documentElement.lang = short; /* each change restyles the page */
}

/** The name of the language for Intl. For English it is that of Britain, where dates begin with the
 * day and times have 24 hours, as in the other languages. */
export const tag = (): string => (language === "009" ? "en-GB" : language === "007" ? "de" : "ru");

export const getLanguage = (): Language => language;

/** The text in the page's language. */
export function t(text: Text, ...values: (string | number)[]): string {
    let at = 0;
    return (language === "009" ? text : TEXTS[text][language === "007" ? 0 : 1]).replace(/\{\}/g, () => String(values[at++]));
}

/** Translates a sentence of the server, or each of several lines. One that the table lacks stays English. */
export function translated(sentence: string): string {
    if (sentence in TEXTS) return t(sentence as Text);
    if (sentence.includes("\n")) return sentence.split("\n").map(translated).join("\n");
    for (const text of language === "009" ? [] : Object.keys(CAPTURES) as Text[]) {
        const found = new RegExp(`^${text.split("{}").map((part) => part.replace(/[*?()]/g, "\\$&")).join("(.+?)")}$`).exec(sentence);
        if (found) return t(text, ...found.slice(1).map(translated));
    }
    return sentence;
}

/** Writes the decimal point of a number as the language does. */
export function decimal(text: string): string {
    return language === "009" ? text : text.replace(".", ",");
}
